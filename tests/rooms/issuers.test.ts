// Tokens of another issuer, whose keys come over HTTP.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { startTestIssuer } from "../support/test-issuer.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const issuer = await startTestIssuer();
const flaky = await startTestIssuer();
const unknown = await startTestIssuer();
let server: TestServer;

beforeAll(async () => {
  await flaky.down();
  server = await startTestServer({
    gateway: { identities: { known: { level: "full" } } },
    issuers: [
      { issuer: issuer.issuer, jwksUri: issuer.jwksUri, topics: ["guests/*"], level: "responder" },
      { issuer: flaky.issuer, jwksUri: flaky.jwksUri, topics: ["**"] },
    ],
  });
});
afterAll(async () => {
  await server.stop();
  await Promise.all([issuer.down(), flaky.down(), unknown.down()]);
});

const topic = "guests/lobby";
const claims = (sub: string, more: object = {}) => ({
  sub,
  aud: server.identity.gatewayId,
  topics: ["**"],
  ...more,
});

test("[X0-5.1-2] a configured issuer's token opens the topics the issuer may grant, and no others", async () => {
  const token = issuer.token(claims("eve", { name: "Eve", kind: "human" }));
  const watcher = await enter(server, "watcher", { topic });
  await (await enterWith(server, token, { topic })).leave();
  expect((await watcher.event("join")).payload.participant).toMatchObject({
    id: "eve",
    name: "Eve",
    kind: "human",
  });
  for (const foreign of ["room:test", "guests/deep/inside"]) {
    expect((await refusedOnConnect(server, token, { topic: foreign })).message).toBe("403 topic_forbidden");
    expect(
      (await server.call("GET", `/v0/topics/${encodeURIComponent(foreign)}/history`, token)).status,
    ).toBe(403);
  }
});

test("[X1-5.1-3] an issuer's ceiling bounds what its token and a known identity give; only an admin lifts it", async () => {
  for (const [sub, level, expected] of [
    ["high", "full", "responder"],
    ["low", "restricted", "restricted"],
    ["none", undefined, "restricted"],
    ["known", undefined, "responder"],
  ] as const) {
    const client = await enterWith(server, issuer.token(claims(sub, level === undefined ? {} : { level })), {
      topic,
    });
    expect(client.welcome.payload.participant).toEqual({ id: sub, privilege: expected });
    await client.leave();
  }
  await server.call("POST", `/admin/participants/high/promote?topic=${topic}`, await server.adminToken());
  const client = await enterWith(server, issuer.token(claims("high")), { topic });
  expect(client.welcome.payload.participant.privilege).toBe("full");
  await client.leave();
});

test("[X0-5.1-3] an issuer that may not make admins makes none", async () => {
  const token = issuer.token(claims("boss", { admin: true }));
  expect((await server.call("GET", "/admin/connections", token)).status).toBe(403);
});

test.each([
  ["of an issuer nobody configured", () => unknown.token(claims("eve"))],
  [
    "in the name of a configured issuer, signed by another",
    () => unknown.token({ ...claims("eve"), iss: issuer.issuer }),
  ],
  ["in the name of this gateway", () => issuer.token({ ...claims("eve"), iss: server.identity.gatewayId })],
  ["for another audience", () => issuer.token({ ...claims("eve"), aud: "somebody-else" })],
])("[X0-5.1-3] a token %s is refused", async (_name, token) => {
  expect((await refusedOnConnect(server, token(), { topic })).message).toBe("401 unauthorised");
});

test("[X1-7.1-2] a participant of one issuer cannot be impersonated by another's token", async () => {
  await (await enter(server, "alice", { topic })).leave();
  expect((await refusedOnConnect(server, issuer.token(claims("alice")), { topic })).message).toBe(
    "401 unauthorised",
  );
});

test("[X1-7.1-2] a refresh cannot change the issuer, also where nobody has a name of their own", async () => {
  const trusted = { issuer: issuer.issuer, jwksUri: issuer.jwksUri, topics: ["**"] };
  const open = await startTestServer({ gateway: { mode: "open" }, issuers: [trusted] });
  const nameless = { aud: open.identity.gatewayId, topics: ["**"] };
  const client = await enterWith(open, await open.token({ topics: ["**"] }), { topic, id: "guest" });
  const refresh = (token: string) =>
    client.outcome(client.send({ kind: "system", payload: { type: "refresh", token } }));
  expect(await refresh(issuer.token(nameless))).toBe("identity_change");
  expect(await refresh(issuer.token({ ...nameless, sub: "guest" }))).toBe("identity_change");
  expect(await refresh(await open.token({ topics: ["**"] }))).toBe("ack");
  await open.stop();
});

test("[X0-5.1-3] an issuer that is down is a 503, never a default identity, and it is believed again when it is back", async () => {
  const token = () => flaky.token(claims("late"));
  const refusal = await refusedOnConnect(server, token(), { topic });
  expect(refusal.message).toBe("503 identity_unavailable");
  expect(Number(refusal.headers["retry-after"])).toBeGreaterThan(0);
  const rest = await server.call("GET", "/v0/topics", token());
  expect(`${rest.status} ${rest.body.error.reason}`).toBe("503 identity_unavailable");
  // Everybody else is served meanwhile.
  await (await enter(server, "unconcerned", { topic })).leave();
  await flaky.up();
  await vi.waitFor(
    async () => expect((await server.call("GET", "/v0/topics", token())).status).toBe(200),
    10_000,
  );
  await (await enterWith(server, token(), { topic })).leave();
});
