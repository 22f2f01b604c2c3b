// The story of a gate, told by five unmodified clients: an agent asks to shred a paper; a human approves with a key, and
// it happens once; or rejects, and the agent gets the reason; or stays silent, and it expires.
import { expect, onTestFinished, test } from "vitest";
import { approveAs, room, surfaces, waitingId } from "./support/approve-as.ts";
import { type Client, type ClientKind, clients, connectClient } from "./support/clients.ts";
import { type Gated, startGated } from "./support/gated.ts";

/** Many processes, and each waits for a human. */
const slow = { timeout: 120_000 };

async function enter(kind: ClientKind, gated: Gated, id: string): Promise<Client> {
  const token = await gated.token(id);
  const agent = await connectClient(kind, { url: `${gated.url()}/mcp`, token, home: gated.dataDir });
  onTestFinished(() => agent.close().catch(() => {}));
  return agent;
}

test.for(clients)(
  "[AX-11.3-1] [AX-11.3-2] [AX-11.3-5] %s: approved, it happens once; rejected, the agent is told why",
  slow,
  async (kind) => {
    const gated = await startGated({ hold: "20s", room });
    const agent = await enter(kind, gated, "agent");
    const happened: string[] = [];
    for (const surface of surfaces) {
      const decide = approveAs(surface, gated);
      const called = agent.call("papers.shred", { paper: surface });
      await waitingId(gated, "agent");
      expect(gated.traces()).toEqual(happened);
      await decide("agent", "approve");
      expect(await called).toContain("shred is done");
      happened.push(`shred {"paper":"${surface}"}`);
      expect(gated.traces()).toEqual(happened);

      const refused = agent.call("papers.shred", { paper: `no, by ${surface}` });
      await decide("agent", "reject", "not on a Friday");
      expect(await refused).toContain("alice has rejected this call: not on a Friday");
      expect(gated.traces()).toEqual(happened);
    }
  },
);

test(
  "[AX-11.3-1] [AX-11.3-5] whoever gives up and asks again gets the result of the one call",
  slow,
  async () => {
    const gated = await startGated({ hold: "20s" });
    for (const kind of clients) {
      const id = kind.replace(" ", "-");
      const agent = await enter(kind, gated, id);
      const leaving = new AbortController();
      const left = agent.call("papers.shred", { paper: kind }, leaving.signal);
      const gate = await waitingId(gated, id);
      leaving.abort();
      await expect(left).rejects.toThrow();
      // It waits on, and asking again joins it.
      const again = agent.call("papers.shred", { paper: kind });
      expect(await waitingId(gated, id)).toBe(gate);
      await approveAs("command line", gated)(id, "approve");
      expect([kind, await again]).toEqual([kind, expect.stringContaining("shred is done")]);
    }
    expect(gated.traces()).toEqual(clients.map((kind) => `shred {"paper":"${kind}"}`));
  },
);

test(
  "[AX-11.3-1] nobody decides: it expires, the agents are told, and nothing has happened",
  slow,
  async () => {
    const gated = await startGated({ hold: "20s", timeout: "3s" });
    const ask = async (kind: ClientKind) => {
      const agent = await enter(kind, gated, kind.replace(" ", "-"));
      return agent.call("papers.shred", { paper: kind });
    };
    const expired = expect.stringContaining(
      "Nothing has happened: nobody has approved papers.shred in time.",
    );
    expect(await Promise.all(clients.map(ask))).toEqual(clients.map(() => expired));
    expect(gated.traces()).toEqual([]);
  },
);
