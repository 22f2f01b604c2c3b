// A server that wants a token of the authorization servers it names, and the scope of what is asked for.
import type { Credentials } from "../../../../packages/aggregator/src/oauth/credentials.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { listen, type Page } from "./site.ts";

export interface ProtectedServer {
  readonly url: string;
  /** Those whose tokens it takes; the description names them. */
  trusts: AuthorizationServer[];
  /** Merged into the description of the resource. */
  description: Record<string, unknown>;
  /** What a request to `/mcp?do=NAME` needs. */
  readonly needs: Record<string, string>;
  /** Refuses everything with this challenge, whatever token comes. */
  always?: { status: number; challenge: string } | undefined;
  /** Authorization headers as they came. */
  readonly seen: (string | undefined)[];
  stop(): Promise<void>;
}

export async function startProtectedServer(...trusts: AuthorizationServer[]): Promise<ProtectedServer> {
  const where = "/.well-known/oauth-protected-resource/mcp";
  const site = await listen({
    [`GET ${where}`]: () => ({
      status: 200,
      body: {
        resource: self.url,
        authorization_servers: self.trusts.map(({ issuer }) => issuer),
        ...self.description,
      },
    }),
    "POST /mcp": ({ headers: { authorization } }, url) => {
      self.seen.push(authorization);
      return judge(authorization, self.needs[url.searchParams.get("do") ?? ""] ?? "");
    },
  });
  const self: ProtectedServer = {
    url: `${site.url}/mcp`,
    trusts,
    description: {},
    needs: {},
    seen: [],
    stop: site.stop,
  };
  return self;

  function judge(authorization: string | undefined, needed: string): Page {
    if (self.always) return refuse(self.always.status, self.always.challenge);
    const token = authorization?.replace(/^Bearer /, "") ?? "";
    const granted = self.trusts.map(({ tokens }) => tokens.get(token)).find((scope) => scope !== undefined);
    const pointer = `resource_metadata="${site.url}${where}"`;
    if (granted === undefined) return refuse(401, `Bearer ${needed && `scope="${needed}", `}${pointer}`);
    const lacks = needed.split(" ").some((word) => word && !granted.split(" ").includes(word));
    if (lacks) return refuse(403, `Bearer error="insufficient_scope", scope="${needed}", ${pointer}`);
    return { status: 200, body: { granted } };
  }
}

function refuse(status: number, challenge: string): Page {
  return { status, body: {}, headers: { "www-authenticate": challenge } };
}

/** One request as a wire makes it: refused, it is tried once more if there are new credentials. */
export async function request(url: string, credentials: Credentials): Promise<number> {
  const sent = await credentials.headers();
  const first = await fetch(url, { method: "POST", headers: sent });
  if (first.status !== 401 && first.status !== 403) return first.status;
  const challenge = first.headers.get("www-authenticate") ?? undefined;
  if (!(await credentials.refused(first.status, challenge, sent))) return first.status;
  return (await fetch(url, { method: "POST", headers: await credentials.headers() })).status;
}
