// Somebody at the console without a browser: the login link, its cookie and the page's half, over plain HTTP.
import { localHeader, localProof } from "@mcpx/host";
import type { TestServer } from "../../support/test-server.ts";

export interface Visitor {
  cookie: string;
  half: string;
  setCookie: string;
  call(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>;
}

export async function loginPath(server: TestServer): Promise<string> {
  const token = await server.adminToken();
  const proof = localProof(server.identity, token);
  return linkOf(server, token, { [localHeader]: proof });
}

/** As `mcpx console` gets it, with what is shown beside the token. */
export async function linkOf(
  { url }: Pick<TestServer, "url">,
  token: string,
  shown: Record<string, string> = {},
): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, ...shown };
  const answer = await fetch(`${url}/admin/console-links`, { method: "POST", headers });
  return String(((await answer.json()) as { path?: unknown }).path);
}

export async function visit(server: TestServer): Promise<Visitor> {
  return visitBy(new URL(await loginPath(server), server.url).href);
}

/** By a link that lets somebody in. */
export async function visitBy(link: string): Promise<Visitor> {
  const { origin } = new URL(link);
  const answer = await fetch(link, { redirect: "manual" });
  const setCookie = answer.headers.get("set-cookie") ?? "";
  const [cookie = ""] = setCookie.split(";");
  const half = /#in=(.+)$/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
  return {
    cookie,
    half,
    setCookie,
    async call(method, path, { body, headers = {} } = {}) {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: {
          cookie,
          origin,
          "x-mcpx-console": half,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const parsed = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
      return { status: response.status, body: parsed, headers: response.headers };
    },
  };
}
