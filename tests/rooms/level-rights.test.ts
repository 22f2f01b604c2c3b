// Every right an operator may assign, for every level and every word, over the wire.
import { type AssignableRight, assignableRights, type Level, levels } from "@mcpx/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const rights = Object.keys(assignableRights) as AssignableRight[];
const words = ["allow", "addressed", "deny"] as const;
type Word = (typeof words)[number];

/** The same word for every right of every level, where the right knows it. */
function assignedTo(word: Word) {
  const all = Object.fromEntries(
    rights.filter((right) => isWordOf(right, word)).map((right) => [right, word]),
  );
  return { restricted: all, responder: all, full: all };
}

function isWordOf(right: AssignableRight, word: Word): boolean {
  return (assignableRights[right] as readonly string[]).includes(word);
}

const servers = new Map<Word, TestServer>();
beforeAll(async () => {
  for (const word of words)
    servers.set(word, await startTestServer({ gateway: { levels: assignedTo(word) } }));
});
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
});

interface Scene {
  actor: TestClient;
  peer: TestClient;
  /** A proposal of the actor, one of the peer to the actor, and one of the peer to somebody else. */
  own: string;
  addressed: string;
  others: string;
}

async function scene(word: Word, level: Level, topic: string): Promise<Scene> {
  const server = servers.get(word) as TestServer;
  const peer = await enter(server, `peer:${topic}`, { topic });
  const actor = await enter(server, `actor:${topic}`, { topic, level });
  const proposal = { kind: "mcp/proposal", payload: { method: "tools/call", params: { name: "lamp" } } };
  const propose = async (by: TestClient, to: string[]) => {
    const id = by.send({ ...proposal, to });
    await by.outcome(id);
    return id;
  };
  return {
    actor,
    peer,
    own: await propose(actor, []),
    addressed: await propose(peer, [actor.id]),
    others: await propose(peer, ["third"]),
  };
}

const envelopeOf: Record<AssignableRight, (scene: Scene) => Record<string, unknown>> = {
  proposal: () => ({ kind: "mcp/proposal", payload: { method: "tools/call", params: { name: "lamp" } } }),
  chat: () => ({ kind: "chat", payload: { text: "hello" } }),
  withdraw: ({ own }) => ({ kind: "mcpx.withdraw.proposal", correlation_id: own, payload: {} }),
  reject: ({ others }) => ({
    kind: "mcpx.reject.proposal",
    correlation_id: others,
    payload: { reason: "busy" },
  }),
  status: ({ others }) => ({
    kind: "mcpx.status.proposal",
    correlation_id: others,
    payload: { status: "considering" },
  }),
  presence_status: () => ({ kind: "system", payload: { type: "presence_status", status: "away" } }),
};

const cells = words.flatMap((word) =>
  levels.flatMap((level) =>
    rights.filter((right) => isWordOf(right, word)).map((right) => ({ word, level, right })),
  ),
);

describe("[PL-4-1] [X1-3.1-1] [PL-2-1] a right is what the configuration says, for each level", () => {
  test.each(cells)("$level, $right: $word", async ({ word, level, right }) => {
    const stage = await scene(word, level, `rights/${word}/${level}/${right}`);
    const id = stage.actor.send(envelopeOf[right](stage));
    const isAllowed = word === "allow";
    expect(await stage.actor.outcome(id)).toBe(isAllowed ? "ack" : "kind_not_allowed");
    const seen = (await stage.peer.taken()).some((message) => message.id === id);
    expect(seen, "seen by the room").toBe(isAllowed && right !== "presence_status");
    if (right === "reject") {
      const mine = stage.actor.send({ ...envelopeOf.reject(stage), correlation_id: stage.addressed });
      expect(await stage.actor.outcome(mine)).toBe(word === "deny" ? "kind_not_allowed" : "ack");
    }
  });

  test.each(words)(
    "whatever is assigned (%s), calls stay with full and connections keep what they need",
    async (word) => {
      const { actor } = await scene(word, "restricted", `rights/${word}/calls`);
      const call = { kind: "mcp", to: [`peer:rights/${word}/calls`] };
      const request = { jsonrpc: "2.0", id: 1, method: "tools/list" };
      expect(await actor.outcome(actor.send({ ...call, payload: request }))).toBe("privilege_violation");
      const policy = { type: "tool_access_policy", policy: { mode: "allowlist" } };
      expect(await actor.outcome(actor.send({ kind: "system", payload: policy }))).toBe("ack");
    },
  );

  test("chat of v0 follows the same right", async () => {
    const { actor } = await scene("deny", "restricted", "rights/v0-chat");
    const payload = { jsonrpc: "2.0", method: "notifications/chat/message", params: { text: "hello" } };
    const id = actor.send({ protocol: "mcp-x/v0", kind: "mcp", payload });
    expect(await actor.outcome(id)).toBe("kind_not_allowed");
  });
});
