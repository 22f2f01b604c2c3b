// A token's end reaches the connection it opened.
import { afterAll, describe, expect, test, vi } from "vitest";
import { enter, refusedOnConnect } from "../support/enter.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer({ limits: { tokenWarningMs: 1_500 } });
afterAll(() => server.stop());

const expOf = (token: string): number => JSON.parse(atob(token.split(".")[1] ?? "")).exp;

describe.concurrent("[X0-5.1-2] on a live connection", () => {
  test("a token that is about to end is announced once, then the connection is closed with 4401", async () => {
    const topic = "room:ends";
    const watcher = await enter(server, "watcher", { topic });
    const guest = await enter(server, "guest", { topic, ttlMs: 2_000 });
    const warning = await guest.event("token_expiring");
    expect(warning).toMatchObject({ from: "system:gateway", to: ["guest"], kind: "system" });
    expect(warning.seq).toBeUndefined();
    expect(await guest.closing()).toEqual({ code: 4401, reason: "token_expired" });
    expect(Date.now() / 1_000).toBeGreaterThanOrEqual(warning.payload.exp);
    expect(guest.inbox.filter(({ payload }) => payload.event === "token_expiring")).toEqual([]);
    const left = await watcher.event("leave");
    expect(left.payload).toMatchObject({ participant: { id: "guest" }, reason: "token_expired" });
  });

  test("nothing is accepted after a token's end, also not in the moment before the close", async () => {
    const topic = "room:late";
    const watcher = await enter(server, "watcher2", { topic });
    const guest = await enter(server, "guest2", { topic, ttlMs: 1_000 });
    // It talks all the way to the end: the connection closes under it.
    let sent = 0;
    const talking = setInterval(() => {
      sent += 1;
      guest.ws.send(
        JSON.stringify({ protocol: "mcpx/v0.1", id: `g-${sent}`, kind: "chat", payload: { text: "!" } }),
      );
    }, 50);
    await guest.closing();
    clearInterval(talking);
    const { body } = await server.call(
      "GET",
      `/v0/topics/${topic}/history?limit=1000`,
      await server.token({ sub: "reader", topics: [topic] }),
    );
    await watcher.settled();
    expect(body.envelopes.length).toBeGreaterThan(3);
    const tokensEnd = Math.max(...body.envelopes.map(({ at }: { at: string }) => Date.parse(at)));
    const { connections } = (await server.call("GET", "/admin/connections", await server.adminToken())).body;
    expect(connections.map(({ participantId }: { participantId: string }) => participantId)).not.toContain(
      "guest2",
    );
    const exp = (
      await server.call("GET", "/admin/tokens?limit=1000", await server.adminToken())
    ).body.tokens.find(({ sub }: { sub: string }) => sub === "guest2").expiresAt;
    expect(tokensEnd).toBeLessThan(Date.parse(exp));
  });

  test("a refresh in time keeps the connection beyond the first token's end", async () => {
    const topic = "room:stays";
    const guest = await enter(server, "guest3", { topic, ttlMs: 2_000 });
    await guest.event("token_expiring");
    const token = await server.token({ sub: "guest3", topics: [topic], level: "full" }, 5_000);
    const id = guest.send({ kind: "system", payload: { type: "refresh", token } });
    expect((await guest.answer(id)).payload).toMatchObject({ event: "ack", id, exp: expOf(token) });
    // The next warning is the new token's.
    expect((await guest.event("token_expiring")).payload.exp).toBe(expOf(token));
    expect(await guest.outcome(guest.say("still here"))).toBe("ack");
    await guest.leave();
  });
});

test("[X0-5.1-2] a ticket does not outlive the token it was traded for", async () => {
  const token = await server.token({ sub: "brief", topics: ["room:brief"] }, 1);
  const { body } = await server.call("POST", "/v0/tickets", token, { topic: "room:brief" });
  const query = { topic: "room:brief" };
  const isOver = async () => expect((await server.call("GET", "/v0/topics", token)).status).toBe(401);
  await vi.waitFor(isOver, { timeout: 5_000 });
  const refusal = await refusedOnConnect(server, undefined, { ...query, ticket: body.ticket });
  expect(refusal.message).toBe("401 token_expired");
});
