// ADR-003's printed request, token and call at an owner whose tools are guarded: what is granted, and what is refused
// because the printed form would be unsafe.
import { createGuard, createKey } from "@mcpx/client/guard";
import { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { enter as enterGuarded, topic } from "../../access/support/guarded-kitchen.ts";
import { startHouse } from "../../client/support/house.ts";
import { enter } from "../../support/enter.ts";
import type { TestClient } from "../../support/test-client.ts";
import { adr003, type Printed, v0 } from "./messages.ts";

const textOf = (title: string) => (adr003.find((printed) => printed.title === title) as Printed).text;
const request = textOf("ADR-003, 2: a request for a capability");
const call = textOf("ADR-003, 4: a call with the capability");

/** The printed policy, its rule in force, and an owner who agrees to whatever may be asked for. */
async function scene() {
  const server = await startHouse();
  const { room, key } = await enterGuarded(server, "agent-b");
  const { policy } = JSON.parse(textOf("ADR-003, 1: a tool access policy")).payload;
  policy.rules[0].expires = new Date(Date.now() + 60_000).toISOString();
  const guard = createGuard({ key, policy, approve: () => true });
  const done: string[] = [];
  const tools = new McpServer({ name: "agent-b", version: "1.0.0" });
  tools.registerTool("dangerous_operation", {}, () => {
    done.push("dangerous_operation");
    return { content: [] };
  });
  await room.serve(tools, { guard });
  return { server, owner: room, done };
}

/** Comes in, shows a key, and is seen with it by the owner. */
async function withKey(
  { server, owner }: Awaited<ReturnType<typeof scene>>,
  id: string,
): Promise<TestClient> {
  const client = await enter(server, id, { topic });
  const { jwk } = await createKey();
  await client.ack(client.send({ kind: "system", payload: { type: "key", jwk } }));
  await expect.poll(() => owner.peers.find((peer) => peer.id === id)?.key).toBeDefined();
  return client;
}

/** Sends it and gives the owner's answer. */
async function answered(client: TestClient, text: string) {
  client.ws.send(text);
  const { id, payload } = JSON.parse(text);
  const answer = await client.find(
    (message) => message.from === "agent-b" && message.correlation_id === id && message.kind === "mcp",
  );
  expect(answer.payload.id).toBe(payload.id);
  return answer.payload;
}

test("[AC-2-1] [AC-3-2] the printed request of a participant that has shown a key is granted, in a token of three parts", async () => {
  const client = await withKey(await scene(), "agent-a");
  const { result } = await answered(client, request);
  expect(result).toMatchObject({ tools: ["dangerous_operation"], expires: expect.any(String) });
  expect(result.token.split(".")).toHaveLength(3);
  expect(result.signature).toBe(result.token.split(".")[2]);
});

test("[AC-2-2] [AC-8-1] without a key that the token could be bound to it is refused, and told why", async () => {
  const { server } = await scene();
  const client = await enter(server, "agent-a", { topic });
  const { error } = await answered(client, request);
  expect(error).toMatchObject({ code: -32003, data: { reason: "grant_refused" } });
  expect(error.data.detail).toContain("Ed25519 key");
});

test("[AC-5-1] the printed token, a text nobody signed, is malformed; the tool does not run", async () => {
  const stage = await scene();
  const client = await withKey(stage, "agent-a");
  // The documents print the handshake, too. [X0-4.1-6]
  const initialize = JSON.parse((v0.find(({ title }) => title.endsWith("initialize")) as Printed).text);
  await answered(client, JSON.stringify({ ...initialize, from: "agent-a", to: ["agent-b"] }));
  const { error } = await answered(client, call);
  expect(error).toMatchObject({ code: -32003, data: { reason: "malformed" } });
  expect(stage.done).toEqual([]);
});

test("[AC-1-4] [AC-1-7] default deny: the listed agent may ask for one more tool, an unlisted one may not", async () => {
  const stage = await scene();
  const listed = await withKey(stage, "agent-a");
  const unlisted = await withKey(stage, "agent-z");
  const params = { tools: ["dangerous_operation"] };
  const asked = async (client: TestClient, id: string) => {
    const payload = { jsonrpc: "2.0", id: 1, method: "capabilities/request", params };
    return answered(
      client,
      JSON.stringify({ protocol: "mcp-x/v0", id, to: ["agent-b"], kind: "mcp", payload }),
    );
  };
  expect(await asked(listed, "ask-1")).toHaveProperty("result.token");
  expect((await asked(unlisted, "ask-2")).error.data.reason).toBe("grant_refused");
});

test("[AC-8-6] the printed grant without jsonrpc and id is no JSON-RPC message: refused, naming what is missing", async () => {
  const server = await startHouse();
  const client = await enter(server, "agent-b", { topic });
  client.ws.send(
    `{"protocol": "mcp-x/v0", "to": ["agent-a"], "kind": "mcp", "payload": {"result": {"token": "cap_xyz", "encrypted": true}}}`,
  );
  const { payload } = await client.event("error");
  expect(payload.reason).toBe("bad_json_rpc");
  expect(payload.message).toContain("payload.jsonrpc");
});
