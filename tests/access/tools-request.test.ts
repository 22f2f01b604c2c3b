// COMPAT: `tools/request`, as the first design had it, where the operator wants it.
import { expect, onTestFinished, test } from "vitest";
import { seen } from "../client/support/house.ts";
import { enter as enterRoom } from "../support/enter.ts";
import { startTestServer } from "../support/test-server.ts";
import { enter, ovenServer, topic, wideLimits } from "./support/guarded-kitchen.ts";

async function scene(toolsRequest: boolean) {
  const server = await startTestServer({ limits: wideLimits, gateway: { compat: { toolsRequest } } });
  onTestFinished(() => server.stop());
  const oven = await enter(server, "oven");
  const done: string[] = [];
  await oven.room.serve(ovenServer(done));
  const ann = await enterRoom(server, "ann", { topic, level: "restricted" });
  const user = await enterRoom(server, "user-1", { topic });
  await seen(oven.room, "user-1");
  return { oven, ann, user, done };
}

const params = { name: "heat", arguments: { degrees: 180 }, reason: "hungry" };
const request = (id: string | number, more: object = {}) => ({
  kind: "mcp",
  to: ["oven"],
  payload: { jsonrpc: "2.0", id, method: "tools/request", params: { ...params, ...more } },
});

test("[AC-11-1] [AC-11-2] the room is told, somebody acts on it, and both get the answer", async () => {
  const { ann, user, done } = await scene(true);
  await ann.ack(ann.send(request("req-123")));
  const pending = await user.event("tool_request_pending");
  expect(pending).toMatchObject({
    kind: "system",
    from: "system:gateway",
    payload: {
      type: "tool_request_pending",
      requester: "ann",
      target: "oven",
      tool: "heat",
      requestId: "req-123",
    },
  });
  const initialize = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "user-1", version: "1" },
  };
  const call = (id: string, method: string, body: object) =>
    user.send({ kind: "mcp", to: ["oven"], payload: { jsonrpc: "2.0", id, method, params: body } });
  const hello = call("init", "initialize", initialize);
  await user.find(({ from, correlation_id }) => from === "oven" && correlation_id === hello);
  const sent = call("call-456", "tools/call", {
    name: "heat",
    arguments: { degrees: 180 },
    onBehalfOf: "ann",
    requestId: "req-123",
  });
  for (const client of [user, ann]) {
    expect(
      await client.find(({ from, correlation_id }) => from === "oven" && correlation_id === sent),
    ).toMatchObject({
      to: ["user-1", "ann"],
      payload: { id: "call-456", result: { fulfilledBy: "user-1", originalRequester: "ann" } },
    });
  }
  expect(done).toEqual(["heat 180"]);
});

test("[AC-11-1] numbers nobody can hold are told as they came", async () => {
  const { ann, user } = await scene(true);
  const text = JSON.stringify({ protocol: "mcpx/v0.1", id: "e1", ...request(1) });
  ann.ws.send(text.replace('"degrees":180', '"degrees":9007199254740993'));
  await user.event("tool_request_pending");
  expect(user.texts.some((seenText) => seenText.includes('"degrees":9007199254740993'))).toBe(true);
});

test("[AC-11-1] what is no request for a tool is refused, and so are more than a proposer may make", async () => {
  const { ann } = await scene(true);
  expect(await ann.outcome(ann.send({ ...request(1), to: [] }))).toBe("request_needs_one_target");
  expect(await ann.outcome(ann.send(request(1, { name: 7 })))).toBe("bad_params");
  expect(await ann.outcome(ann.send(request(1, { arguments: [] })))).toBe("bad_params");
  const ids = Array.from({ length: 31 }, (_, n) => ann.send(request(n)));
  expect(await ann.outcome(ids[30] ?? "")).toBe("rate_limited");
});

test("[AC-11-1] it is off unless the operator says otherwise: a restricted agent proposes instead", async () => {
  const { ann, user } = await scene(false);
  expect(await ann.outcome(ann.send(request(1)))).toBe("privilege_violation");
  expect((await user.taken()).some(({ payload }) => payload.event === "tool_request_pending")).toBe(false);
});
