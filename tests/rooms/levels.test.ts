// Every cell of the table of levels, over the wire.
import { generateKeyPairSync } from "node:crypto";
import { type Action, actions, type Level, levels, levelTable } from "@mcpx/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ gateway: { compat: { toolsRequest: true } } });
});
afterAll(() => server.stop());

interface Scene {
  topic: string;
  actor: TestClient;
  /** Full; it sees what the others see. */
  peer: TestClient;
}

async function scene(level: Level, action: string): Promise<Scene> {
  const topic = `cells/${level}/${action}`;
  const peer = await enter(server, `peer:${level}:${action}`, { topic });
  const actor = await enter(server, `actor:${level}:${action}`, { topic, level });
  await peer.event("join");
  return { topic, actor, peer };
}

/** The peer's request or proposal, addressed to the actor or to somebody else; returns its envelope id. */
async function asked(
  { peer, actor }: Scene,
  kind: "mcp" | "mcp/proposal",
  isForActor: boolean,
): Promise<string> {
  const call = { method: "tools/call", params: { name: "lamp" } };
  const payload = kind === "mcp" ? { jsonrpc: "2.0", id: 1, ...call } : call;
  const id = peer.send({ kind, to: [isForActor ? actor.id : "third"], payload });
  await peer.ack(id);
  await actor.find((message) => message.id === id);
  return id;
}

const envelopes: Record<Action, (scene: Scene, isForActor: boolean) => Promise<Record<string, unknown>>> = {
  "mcp.request": async ({ peer }) => ({
    kind: "mcp",
    to: [peer.id],
    payload: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  }),
  "mcp.notification": async () => ({
    kind: "mcp",
    payload: { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
  }),
  "mcp.response": async (scene, isForActor) => ({
    kind: "mcp",
    to: [scene.peer.id],
    correlation_id: await asked(scene, "mcp", isForActor),
    payload: { jsonrpc: "2.0", id: 1, result: {} },
  }),
  proposal: async () => ({
    kind: "mcp/proposal",
    payload: { method: "tools/call", params: { name: "lamp" } },
  }),
  tools_request: async ({ peer }) => ({
    kind: "mcp",
    to: [peer.id],
    payload: { jsonrpc: "2.0", id: 1, method: "tools/request", params: { name: "lamp" } },
  }),
  chat: async () => ({ kind: "chat", payload: { text: "hello" } }),
  withdraw: async () => ({ kind: "mcpx.withdraw.proposal", correlation_id: "gone", payload: {} }),
  reject: async (scene, isForActor) => ({
    kind: "mcpx.reject.proposal",
    correlation_id: await asked(scene, "mcp/proposal", isForActor),
    payload: { reason: "busy" },
  }),
  status: async () => ({
    kind: "mcpx.status.proposal",
    correlation_id: "gone",
    payload: { status: "considering" },
  }),
  "system.tool_access_policy": async () => ({
    kind: "system",
    payload: { type: "tool_access_policy", policy: {} },
  }),
  "system.capability_revoked": async () => ({ kind: "system", payload: { type: "capability_revoked" } }),
  "system.refresh": async ({ topic, actor }) => ({
    kind: "system",
    payload: { type: "refresh", token: await server.token({ sub: actor.id, topics: [topic] }) },
  }),
  "system.key": async () => ({
    kind: "system",
    payload: { type: "key", jwk: generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) },
  }),
  "system.presence_status": async () => ({
    kind: "system",
    payload: { type: "presence_status", status: "away", text: "lunch" },
  }),
};

/** Told to the gateway and not to the room. A request for a tool is a call like any other where its sender may call. */
const privately = new Set<Action>(["system.refresh", "system.key", "system.presence_status"]);
const isPrivate = (level: Level, action: Action) =>
  privately.has(action) || (action === "tools_request" && level !== "full");

const cells = levels.flatMap((level) =>
  actions.map((action) => ({ level, action, may: levelTable[level][action] })),
);

async function isRelayed({ peer, topic }: Scene, id: string): Promise<boolean> {
  const seen = (await peer.taken()).some((message) => message.id === id);
  const { body } = await server.call(
    "GET",
    `/v0/topics/${encodeURIComponent(topic)}/history`,
    await server.token({ sub: "reader", topics: [topic] }),
  );
  const kept = body.envelopes.some((envelope: { id: string }) => envelope.id === id);
  expect(kept, "in history").toBe(seen);
  return seen;
}

describe("[X1-3.1-1] [X1-3.1-2] [X1-3.1-3] [X1-3.1-4] [PL-4-1] what each level may send", () => {
  test.each(cells)("$level, $action: $may", async ({ level, action, may }) => {
    const stage = await scene(level, action);
    const id = stage.actor.send(await envelopes[action](stage, true));
    const outcome = await stage.actor.outcome(id);
    const refusal = action.startsWith("mcp.") ? "privilege_violation" : "kind_not_allowed";
    expect(outcome).toBe(may === "no" ? refusal : "ack");
    expect(await isRelayed(stage, id)).toBe(may !== "no" && !isPrivate(level, action));
    await Promise.all([stage.actor.leave(), stage.peer.leave()]);
  });

  test.each(cells.filter(({ may }) => may === "addressed"))(
    "$level, $action: not what is addressed to somebody else",
    async ({ level, action }) => {
      const stage = await scene(level, `${action}-else`);
      const id = stage.actor.send(await envelopes[action](stage, false));
      const reason = action === "reject" ? "kind_not_allowed" : "not_the_addressee";
      expect(await stage.actor.outcome(id)).toBe(reason);
      expect(await isRelayed(stage, id)).toBe(false);
      await Promise.all([stage.actor.leave(), stage.peer.leave()]);
    },
  );

  test("full rejects what is addressed to others, but does not answer for them", async () => {
    const stage = await scene("full", "for-others");
    const reject = stage.actor.send(await envelopes.reject(stage, false));
    expect(await stage.actor.outcome(reject)).toBe("ack");
    const answer = stage.actor.send(await envelopes["mcp.response"](stage, false));
    expect(await stage.actor.outcome(answer)).toBe("not_the_addressee");
    expect(await isRelayed(stage, answer)).toBe(false);
  });

  test("a responder answers nothing the log does not know; full may", async () => {
    const response = {
      kind: "mcp",
      correlation_id: "long-trimmed",
      payload: { jsonrpc: "2.0", id: 1, result: {} },
    };
    const responder = await scene("responder", "unknown");
    expect(await responder.actor.outcome(responder.actor.send(response))).toBe("not_the_addressee");
    const full = await scene("full", "unknown");
    expect(await full.actor.outcome(full.actor.send(response))).toBe("ack");
  });
});
