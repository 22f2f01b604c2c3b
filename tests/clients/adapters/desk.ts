// A gateway whose people decide about what frameworks ask: Alice's key approves and rejects.
import type { Config } from "@mcpx/cli";
import type { Decision, GateTerms } from "@mcpx/protocol";
import { vi } from "vitest";
import { newKey, sign } from "../../gates/support/gate-room.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../../support/test-server.ts";

interface Asked {
  tool: string;
  arguments: Record<string, unknown>;
  call: string;
}

export interface Desk {
  readonly server: TestServer;
  token(id?: string): Promise<string>;
  /** What waits of this asker. */
  asked(id?: string): Promise<(Asked & { id: string })[]>;
  /** The one call of this asker that waits. */
  decide(decision: Decision, id?: string): Promise<Asked>;
}

export async function openDesk(
  gates: Config["gates"] = {},
  more: Omit<TestServerOptions, "config"> = {},
): Promise<Desk> {
  const alice = newKey();
  const anchors = [{ name: "alice", jwk: alice.jwk as { kty: string } }];
  const server = await startTestServer({ ...more, config: { gates: { hold: 50, anchors, ...gates } } });
  const asked: Desk["asked"] = async (id = "agent") => {
    const admin = await server.adminToken();
    const { body } = await server.call("GET", "/admin/gates?status=pending", admin);
    const gates: { id: string; principal: string }[] = body.gates.filter(
      ({ principal }: { principal: string }) => principal === id,
    );
    return Promise.all(
      gates.map(async (gate) => {
        const { body: page } = await server.call("GET", `/approve/${gate.id}/call`);
        return { ...JSON.parse(page.arguments_text), id: gate.id };
      }),
    );
  };
  return {
    server,
    token: (id = "agent") => server.token({ sub: id, topics: [], tools: ["mcpax.ask", "mcpax.wait"] }),
    asked,
    async decide(decision, id) {
      const one = await vi.waitFor(
        async () => {
          const [first, ...others] = await asked(id);
          if (first === undefined || others.length > 0) throw new Error(`${others.length} others wait`);
          return first;
        },
        { timeout: 30_000, interval: 100 },
      );
      const { body } = await server.call("GET", `/approve/${one.id}/call`);
      const proof = await sign(body.terms as GateTerms, decision, alice, "not on a Friday");
      const { status } = await server.call("POST", `/approve/${one.id}/decision`, undefined, { proof });
      if (status !== 200) throw new Error(`the decision was refused: ${status}`);
      return one;
    },
  };
}
