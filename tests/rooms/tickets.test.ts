// Tickets: how a browser, which cannot set headers on a WebSocket, shows its token.
import { afterAll, describe, expect, test, vi } from "vitest";
import { enterWith, refusedOnConnect } from "../support/enter.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
const hasty = await startTestServer({ limits: { ticketMs: 200 } });
afterAll(() => Promise.all([server.stop(), hasty.stop()]));

const topic = "room:tickets";

async function ticketFor(sub: string, more: { topic?: string; at?: typeof server } = {}): Promise<string> {
  const at = more.at ?? server;
  const token = await at.token({ sub, topics: ["room:*"], level: "full" });
  const { status, body } = await at.call("POST", "/v0/tickets", token, { topic: more.topic ?? topic });
  expect(status).toBe(201);
  return body.ticket;
}

describe("[X0-5.1-1] a ticket", () => {
  test("lives 30 seconds, opens a connection as its token would, and works once", async () => {
    const token = await server.token({ sub: "alice", topics: [topic], level: "responder" });
    const before = Date.now();
    const { body } = await server.call("POST", "/v0/tickets", token, { topic });
    const livesMs = Date.parse(body.expires_at) - before;
    expect(livesMs).toBeGreaterThanOrEqual(30_000);
    expect(livesMs).toBeLessThan(32_000);
    const client = await enterWith(server, undefined, { topic, ticket: body.ticket });
    expect(client.welcome.payload.participant).toEqual({ id: "alice", privilege: "responder" });
    await client.leave();
    const again = await refusedOnConnect(server, undefined, { topic, ticket: body.ticket });
    expect(again.message).toBe("401 ticket_invalid");
  });

  test("is for one topic, and spent by being shown at another", async () => {
    const ticket = await ticketFor("bob");
    const elsewhere = { topic: "room:elsewhere", ticket };
    expect((await refusedOnConnect(server, undefined, elsewhere)).message).toBe("401 ticket_invalid");
    expect((await refusedOnConnect(server, undefined, { topic, ticket })).message).toBe("401 ticket_invalid");
  });

  test("shown twice at the same moment opens one connection", async () => {
    const ticket = await ticketFor("carol");
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => enterWith(server, undefined, { topic, ticket })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("ends by itself", async () => {
    const ticket = await ticketFor("dave", { at: hasty });
    const later = performance.now() + 200;
    await vi.waitUntil(() => performance.now() > later);
    expect((await refusedOnConnect(hasty, undefined, { topic, ticket })).message).toBe("401 ticket_invalid");
  });

  test("is not taken together with a token, nor guessed, nor used as a bearer token", async () => {
    const ticket = await ticketFor("erin");
    const token = await server.token({ sub: "erin", topics: [topic] });
    expect((await refusedOnConnect(server, token, { topic, ticket })).message).toBe("400 bad_request");
    for (const guess of ["", "x", ticket.slice(1), `${ticket}x`]) {
      const refusal = await refusedOnConnect(server, undefined, { topic, ticket: guess });
      expect(refusal.message).toBe("401 ticket_invalid");
    }
    expect((await server.call("GET", "/v0/topics", ticket)).status).toBe(401);
    // None of that has spent it.
    await (await enterWith(server, undefined, { topic, ticket })).leave();
  });

  test("is void once its token was revoked", async () => {
    const { token, jti } = await server.identity.tokens.mint(
      { sub: "frank", topics: [topic] },
      { ttlMs: 60_000 },
    );
    const { body } = await server.call("POST", "/v0/tickets", token, { topic });
    await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
    const refusal = await refusedOnConnect(server, undefined, { topic, ticket: body.ticket });
    expect(refusal.message).toBe("401 token_revoked");
  });

  test("is asked for with a topic in a JSON body", async () => {
    const token = await server.token({ sub: "grace", topics: ["**"] });
    for (const body of [{}, { topic: 7 }, { topic: "two words" }, [topic], "topic"]) {
      expect((await server.call("POST", "/v0/tickets", token, body)).status).toBe(400);
    }
    expect((await server.call("GET", "/v0/tickets", token)).status).toBe(405);
    const padded = (bytes: number) => ({ topic, pad: "x".repeat(bytes) });
    expect((await server.call("POST", "/v0/tickets", token, padded(5_000))).status).toBe(413);
  });
});

test("[X0-5.1-1] a ticket's connection ends with its token like any other", async () => {
  const token = await server.token({ sub: "heidi", topics: [topic], level: "full" }, 1_000);
  const { body } = await server.call("POST", "/v0/tickets", token, { topic });
  const client = await enterWith(server, undefined, { topic, ticket: body.ticket });
  expect(await client.closing()).toEqual({ code: 4401, reason: "token_expired" });
});

describe("[X0-5.1-3] a ticket is refused, with the reason a browser could not read at the WebSocket,", () => {
  test("to who was kicked", async () => {
    const token = await server.token({ sub: "rowdy", topics: [topic] });
    const ticket = async () => server.call("POST", "/v0/tickets", token, { topic });
    const client = await enterWith(server, undefined, { topic, ticket: (await ticket()).body.ticket });
    await server.call("DELETE", `/admin/participants/rowdy?topic=${topic}`, await server.adminToken());
    await client.closing();
    expect((await ticket()).body.error.reason).toBe("kicked");
  });

  test("to who has no level in secure mode, and to a second connection where that is refused", async () => {
    const strict = await startTestServer({ gateway: { mode: "secure", takeover: "refuse" } });
    const reason = async (token: string) =>
      (await strict.call("POST", "/v0/tickets", token, { topic })).body.error?.reason;
    expect(await reason(await strict.token({ sub: "nobody", topics: [topic] }))).toBe("no_level");
    const token = await strict.token({ sub: "somebody", topics: [topic], level: "full" });
    expect(await reason(token)).toBeUndefined();
    const client = await enterWith(strict, token, { topic });
    expect(await reason(token)).toBe("already_connected");
    await client.leave();
    await strict.stop();
  });
});
