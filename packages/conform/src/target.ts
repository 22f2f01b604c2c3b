// The implementation under test: an address, and a way to get tokens it believes.

/** The claims of spec/PROTOCOL.md §2 that the kit asks for. */
export interface Claims {
  sub?: string;
  topics?: readonly string[];
  level?: string;
  kind?: string;
  name?: string;
  admin?: boolean;
  tools?: readonly string[];
  segment?: string;
  scope?: string;
}

export interface Target {
  /** `http://host:port`, without a path. */
  readonly url: string;
  /** A token with these claims, signed by a key the implementation trusts. */
  mint(claims: Claims): Promise<string>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the kit looks into answers of any shape
  body: any;
}

export async function callRest(
  { url }: Target,
  method: string,
  path: string,
  token: string | undefined,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}
