// Everything that is refused before the upgrade, and the same over REST.
import { join } from "node:path";
import {
  createIdentity,
  createLogger,
  createManualClock,
  createSqliteIdentityStore,
  openState,
  type TokenClaims,
} from "@mcpx/host";
import { afterAll, describe, expect, test } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
const stranger = await startTestServer();
afterAll(() => Promise.all([server.stop(), stranger.stop()]));

const topic = "room:endpoint";
const alice: TokenClaims = { sub: "alice", topics: [topic] };
const addresses = [`/v0/topics/${topic}/participants`, `/v0/topics/${topic}/history`];

/** A token that ended long ago: minted by a clock that is an hour late. */
async function expiredToken(): Promise<string> {
  const db = openState(join(server.dataDir, "state.db"));
  const log = createLogger({ level: "silent" });
  const identity = await createIdentity({
    store: createSqliteIdentityStore(db),
    clock: createManualClock(Date.now() - 3_600_000),
    log,
  });
  const { token } = await identity.tokens.mint(alice, { ttlMs: 60_000 });
  identity.close();
  db.close();
  return token;
}

async function revokedToken(): Promise<string> {
  const { token, jti } = await server.identity.tokens.mint(alice, { ttlMs: 60_000 });
  const answer = await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
  expect(answer.status).toBe(200);
  return token;
}

async function withClaims(claims: object): Promise<string> {
  const [head, body, signature] = (await server.token(alice)).split(".");
  const changed = { ...JSON.parse(atob(body ?? "")), ...claims };
  return `${head}.${Buffer.from(JSON.stringify(changed)).toString("base64url")}.${signature}`;
}

async function unsigned(): Promise<string> {
  const body = (await server.token(alice)).split(".")[1];
  return `${Buffer.from('{"alg":"none","typ":"mcpx+jwt"}').toString("base64url")}.${body}.AA`;
}

const badTokens: [string, () => Promise<string | undefined>, string][] = [
  ["no token", async () => undefined, "401 unauthorised"],
  ["a token of another gateway", () => stranger.token(alice), "401 unauthorised"],
  ["a token with a changed subject", () => withClaims({ sub: "bob" }), "401 unauthorised"],
  ["a token with wider topics than were signed", () => withClaims({ topics: ["**"] }), "401 unauthorised"],
  ["a token without a signature", unsigned, "401 unauthorised"],
  ["an expired token", expiredToken, "401 token_expired"],
  ["a revoked token", revokedToken, "401 token_revoked"],
  [
    "a token for another topic",
    () => server.token({ ...alice, topics: ["room:other"] }),
    "403 topic_forbidden",
  ],
  ["a token for no topic", () => server.token({ ...alice, topics: [] }), "403 topic_forbidden"],
];

describe("[X0-5.1-1] [X0-5.1-3] before the upgrade", () => {
  test.each(badTokens)("%s is refused", async (_name, make, expected) => {
    await (await enter(server, "witness", { topic })).leave();
    const token = await make();
    const refusal = await refusedOnConnect(server, token, { topic });
    expect(refusal.message).toBe(expected);
    for (const address of addresses) {
      const { status, body } = await server.call("GET", address, token);
      expect(`${status} ${body.error.reason}`).toBe(expected);
    }
    const ticket = await server.call("POST", "/v0/tickets", token, { topic });
    expect(`${ticket.status} ${ticket.body.error.reason}`).toBe(expected);
  });

  test.each(["Basic YWxpY2U6c2VjcmV0", "Bearer", "Bearer a b", "bearer:x"])(
    "the header %s is no bearer token",
    async (authorization) => {
      const refusal = await refusedOnConnect(server, undefined, { topic }, { authorization });
      expect(refusal.message).toBe("401 unauthorised");
      expect(refusal.headers["www-authenticate"]).toBe("Bearer");
    },
  );

  test("a token in the address is refused, even a good one", async () => {
    const token = await server.token(alice);
    for (const name of ["token", "access_token"]) {
      expect((await refusedOnConnect(server, undefined, { topic, [name]: token })).message).toBe(
        "400 bad_request",
      );
    }
  });

  test("a request that is no WebSocket handshake is told so", async () => {
    const { status, body } = await server.call("GET", `/v0/ws?topic=${topic}`, await server.token(alice));
    expect(`${status} ${body.error.reason}`).toBe("400 bad_request");
  });
});

describe("[X0-9-2] a web page elsewhere", () => {
  test.each([
    [{ origin: "https://evil.example" }, "403 foreign_origin"],
    [{ origin: "null" }, "403 foreign_origin"],
    [{ host: "evil.example" }, "421 foreign_host"],
  ])("that shows itself by %j gets no connection, whatever its token", async (headers, expected) => {
    const refusal = await refusedOnConnect(server, await server.token(alice), { topic }, headers);
    expect(refusal.message).toBe(expected);
  });

  test("gets nothing over REST either, and the gateway's own page does", async () => {
    const token = await server.token({ sub: "reader", topics: ["**"] });
    const from = (origin: string) =>
      fetch(`${server.url}/v0/topics`, { headers: { origin, authorization: `Bearer ${token}` } });
    expect((await from("https://evil.example")).status).toBe(403);
    expect((await from(server.url)).status).toBe(200);
    const client = await TestClient.connect(
      server.url,
      await server.token(alice),
      { topic },
      { headers: { origin: server.url } },
    );
    await client.leave();
  });
});

test("[X0-5.1-3] a foreign topic looks the same whether it exists or not", async () => {
  await (await enter(server, "witness", { topic: "room:exists" })).leave();
  const token = await server.token(alice);
  const answers = await Promise.all(
    ["room:exists", "room:absent"].map(async (name) => {
      const endpoint = await refusedOnConnect(server, token, { topic: name });
      const history = await server.call("GET", `/v0/topics/${name}/history`, token);
      const participants = await server.call("GET", `/v0/topics/${name}/participants`, token);
      const ticket = await server.call("POST", "/v0/tickets", token, { topic: name });
      return { endpoint: [endpoint.status, endpoint.error], history, participants, ticket };
    }),
  );
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]?.history.status).toBe(403);
});

test("[X0-5.3-1] the list of topics holds only those the token covers", async () => {
  for (const name of ["team/a", "team/b", "other/a"]) {
    await (await enter(server, "witness", { topic: name })).leave();
  }
  const { body } = await server.call(
    "GET",
    "/v0/topics",
    await server.token({ sub: "reader", topics: ["team/*"] }),
  );
  expect(body.topics).toEqual([
    { name: "team/a", participants: 0, seq: 0 },
    { name: "team/b", participants: 0, seq: 0 },
  ]);
  expect((await server.call("GET", "/v0/topics")).status).toBe(401);
});

describe("[X0-3-1] a topic's name", () => {
  const token = () => server.token({ sub: "alice", topics: ["**"] });

  test.each(["room:alpha", "a", "A-Z/0.9_x@y+z", "x".repeat(128)])("may be %s", async (name) => {
    const client = await enterWith(server, await token(), { topic: name });
    const encoded = encodeURIComponent(name);
    const { body } = await server.call("GET", `/v0/topics/${encoded}/participants`, await token());
    expect(body.participants).toMatchObject([{ id: "alice" }]);
    await client.leave();
  });

  test.each(["", "two words", "ümlaut", "a\u0000", "x".repeat(129)])("may not be %j", async (name) => {
    expect((await refusedOnConnect(server, await token(), { topic: name })).message).toBe("400 bad_request");
    if (name === "") return;
    const encoded = encodeURIComponent(name);
    expect((await server.call("GET", `/v0/topics/${encoded}/history`, await token())).status).toBe(400);
  });

  test("must be given", async () => {
    expect((await refusedOnConnect(server, await token(), {})).message).toBe("400 bad_request");
  });
});

test.each([
  { seq: "yes" },
  { echo: "2" },
  { history: "-1" },
  { history: "many" },
  { resume: "7" },
  { resume: "epoch:" },
  { mcp: "latest" },
  { id: "bob" },
])("a parameter %j that means nothing is a 400", async (query) => {
  const refusal = await refusedOnConnect(server, await server.token(alice), { topic, ...query });
  expect(refusal.message).toBe("400 bad_request");
});
