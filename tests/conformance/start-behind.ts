// Starts the fixture behind a tree: at its root under its own names, or under a segment.
import { startTestServer, type TestServerOptions } from "../support/test-server.ts";
import type { Era } from "./fixture/fixture.ts";
import { prefixed, type Rewrite, renaming } from "./rewrite.ts";
import { fixtureCommand, startFixture } from "./start-fixture.ts";

export interface Mount {
  era: Era;
  transport: "http" | "stdio";
  at: "root" | "segment";
}

export interface Behind {
  url: string;
  headers: Record<string, string>;
  rewrite?: Rewrite;
  stop(): Promise<void>;
}

const segment = "fixture";

export async function startBehind({ era, transport, at }: Mount): Promise<Behind> {
  const fixture = transport === "http" ? await startFixture(era) : undefined;
  const [command, ...args] = fixtureCommand("stdio", era);
  const place = at === "root" ? { root: true } : { segment };
  const server = fixture === undefined ? { command, args, ...place } : { url: fixture.url, ...place };
  const config: TestServerOptions["config"] = { mcpServers: { fixture: server } };
  const tree = await startTestServer({ config });
  const token = await tree.token({ sub: "suite", topics: [], tools: ["**"] });
  return {
    url: `${tree.url}/mcp`,
    headers: { authorization: `Bearer ${token}` },
    ...(at === "segment" && {
      rewrite: renaming({ name: prefixed(`${segment}.`), uri: prefixed(`mcpx://${segment}/`) }),
    }),
    async stop() {
      await tree.stop();
      await fixture?.stop();
    },
  };
}
