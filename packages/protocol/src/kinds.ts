// The kinds an envelope may have, and the spellings of them that are read.

export const kinds = [
  "mcp",
  "mcp/proposal",
  "chat",
  "presence",
  "system",
  "mcpx.withdraw.proposal",
  "mcpx.reject.proposal",
  "mcpx.status.proposal",
] as const;

export type Kind = (typeof kinds)[number];

/** A kind as written, understood: `method` and `context` come from the longer spellings. */
export interface ParsedKind {
  kind: Kind;
  method?: string;
  context?: string;
  /** The spelling says that the payload is a request: no notification and no response may come in it. */
  isRequest?: true;
}

// COMPAT: drafts spelled the method into the kind; such envelopes are relayed as written. [PL-7-1] [PL-7-2]
const spelledOut: readonly { prefix: string; as: ParsedKind }[] = [
  { prefix: "mcp/proposal:", as: { kind: "mcp/proposal" } },
  { prefix: "mcp.proposal.", as: { kind: "mcp/proposal" } },
  { prefix: "mcp/request:", as: { kind: "mcp", isRequest: true } },
  { prefix: "mcp.request.", as: { kind: "mcp", isRequest: true } },
];

const known: ReadonlyMap<string, ParsedKind> = new Map<string, ParsedKind>([
  ...kinds.map((kind): [string, ParsedKind] => [kind, { kind }]),
  // COMPAT: the same drafts also print both without a method.
  ["mcp.proposal", { kind: "mcp/proposal" }],
  ["mcp/request", { kind: "mcp", isRequest: true }],
]);

const charsMax = 256;

/** Reads a kind; `undefined` for anything unknown, look-alikes included. */
export function parseKind(written: string): ParsedKind | undefined {
  const exact = known.get(written);
  if (exact !== undefined) return exact;
  if (written.length > charsMax) return undefined;
  const spelling = spelledOut.find(({ prefix }) => written.startsWith(prefix));
  if (spelling === undefined) return undefined;
  const rest = written.slice(spelling.prefix.length);
  const colon = rest.indexOf(":");
  const method = colon === -1 ? rest : rest.slice(0, colon);
  if (!isMethod(method)) return undefined;
  return colon === -1
    ? { ...spelling.as, method }
    : { ...spelling.as, method, context: rest.slice(colon + 1) };
}

function isMethod(text: string): boolean {
  return text.length > 0 && text.length <= 128 && /^[A-Za-z0-9._/$-]+$/.test(text);
}
