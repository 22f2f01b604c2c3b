// A v0 response that does not name the request it answers: the gateway finds the one that is open, or refuses.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enter } from "../../support/enter.ts";
import type { TestClient } from "../../support/test-client.ts";
import { startTestServer, type TestServer } from "../../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ limits: { correlationWindow: 8 } });
});
afterAll(() => server.stop());

let rooms = 0;
async function scene() {
  rooms += 1;
  const topic = `uncorrelated/${rooms}`;
  const asker = await enter(server, "asker", { topic });
  const owner = await enter(server, "owner", { topic });
  const ask = async (by: TestClient, rpcId: unknown, to = "owner") => {
    const id = by.send({
      kind: "mcp",
      to: [to],
      payload: { jsonrpc: "2.0", id: rpcId, method: "tools/list" },
    });
    await by.ack(id);
    return id;
  };
  const answer = (rpcId: unknown, more: object = {}) =>
    owner.send({
      protocol: "mcp-x/v0",
      kind: "mcp",
      to: ["asker"],
      payload: { jsonrpc: "2.0", id: rpcId, result: {} },
      ...more,
    });
  return { topic, asker, owner, ask, answer };
}

describe("[AC-3-1] [X0-4-5] a v0 response without correlation_id", () => {
  test("gets that of the one open request; sent again it is the same, and the request is open no more", async () => {
    const { asker, owner, ask, answer } = await scene();
    const request = await ask(asker, 7);
    const id = answer(7);
    const { payload: first } = await owner.ack(id);
    expect(await asker.find((message) => message.id === id)).toMatchObject({ correlation_id: request });
    answer(7, { id });
    expect((await owner.ack(id)).payload.seq).toBe(first.seq);
    expect(await owner.outcome(answer(7))).toBe("response_needs_correlation");
  });

  test("is refused where several are open, with how many", async () => {
    const { asker, owner, ask, answer } = await scene();
    await ask(asker, 7);
    await ask(asker, 7);
    const refusal = await owner.answer(answer(7));
    expect(refusal.payload).toMatchObject({ event: "error", reason: "response_needs_correlation" });
    expect(refusal.payload.message).toContain("2 open requests");
    expect((await asker.taken()).filter(({ from }) => from === "owner")).toEqual([]);
  });

  test.each([
    ["another type of the same id", (s: Scene) => s.answer("7")],
    ["somebody else in to", (s: Scene) => s.answer(7, { to: ["third"] })],
    ["nobody in to", (s: Scene) => s.answer(7, { to: [] })],
    ["a v0.1 envelope", (s: Scene) => s.answer(7, { protocol: "mcpx/v0.1" })],
  ])("is refused with %s", async (_, send) => {
    const stage = await scene();
    await stage.ask(stage.asker, 7);
    expect(await stage.owner.outcome(send(stage))).toBe("response_needs_correlation");
  });

  test("is refused to a participant the request was not addressed to", async () => {
    const { topic, asker, ask } = await scene();
    const thief = await enter(server, "thief", { topic });
    await ask(asker, 7);
    const payload = { jsonrpc: "2.0", id: 7, result: {} };
    const id = thief.send({ protocol: "mcp-x/v0", kind: "mcp", to: ["asker"], payload });
    expect(await thief.outcome(id)).toBe("response_needs_correlation");
  });

  test("finds requests among the newest envelopes only", async () => {
    const { asker, owner, ask, answer } = await scene();
    await ask(asker, 7);
    for (let said = 0; said < 8; said += 1) await asker.ack(asker.say("and another thing"));
    expect(await owner.outcome(answer(7))).toBe("response_needs_correlation");
  });
});

type Scene = Awaited<ReturnType<typeof scene>>;

test("[X0-4-2] only v0 envelopes may come without id; each gets one, and two are two", async () => {
  const { asker, owner } = await scene();
  const text = (protocol: string) => JSON.stringify({ protocol, kind: "chat", payload: { text: "hi" } });
  owner.ws.send(text("mcpx/v0.1"));
  expect((await owner.event("error")).payload).toMatchObject({ reason: "missing_field" });
  owner.ws.send(text("mcp-x/v0"));
  owner.ws.send(text("mcp-x/v0"));
  const acks = [await owner.event("ack"), await owner.event("ack")];
  const [one, two] = acks.map(({ payload, correlation_id }) => {
    expect(correlation_id).toBe(payload.id);
    return payload.id;
  });
  expect(one).not.toBe(two);
  const heard = (await asker.taken()).filter(({ from }) => from === "owner");
  expect(heard.map(({ id }) => id)).toEqual([one, two]);
});
