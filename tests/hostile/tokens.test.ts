// Tokens and tickets that must not be believed. Every bad token is shown at all three endpoints: the handshake, REST, and
// a live connection's refresh.
import { createPublicKey, generateKeyPairSync, hash } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { enterWith, refusedOnConnect } from "../support/enter.ts";
import { TestClient } from "../support/test-client.ts";
import { hmacOf, type Json, jws, ownKey, sealedBy, withOtherSignature, withStrayBit } from "./forge-token.ts";
import { canary, Oracle } from "./oracle.ts";
import { RawSocket } from "./raw-socket.ts";

const issuerKeys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const curveKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwkOf = (key: typeof issuerKeys.publicKey, kid: string) => ({ ...key.export({ format: "jwk" }), kid });
const oracle = await Oracle.start({
  issuers: [
    { issuer: "https://idp.example", topics: ["room:target"], algorithms: ["RS256"], jwks: { keys: [jwkOf(issuerKeys.publicKey, "rsa-1")] } },
    { issuer: "https://curve.example", topics: ["room:target"], algorithms: ["ES256"], jwks: { keys: [jwkOf(curveKeys.publicKey, "ec-1")] } },
    { issuer: "https://gone.example", topics: ["**"], level: "full", jwksUri: "http://127.0.0.1:9/keys" },
  ],
}); // biome-ignore format: a table
afterAll(() => oracle.stop());

const { topic, server } = oracle;
const { gatewayId } = server.identity;
const { kid, key } = await ownKey(server);
const stranger = generateKeyPairSync("ed25519");
const now = () => Math.floor(Date.now() / 1_000);

const header: Json = { alg: "EdDSA", typ: "mcpx+jwt", kid };
const claims = (more: Json = {}): Json => {
  const iat = now();
  return { iss: gatewayId, aud: gatewayId, sub: "forger", topics: [topic], level: "full", iat, exp: iat + 600, jti: crypto.randomUUID(), ...more };
}; // biome-ignore format: one object
const publicKey = createPublicKey(key);
const spki = publicKey.export({ format: "pem", type: "spki" });
const rawPublicKey = Buffer.from(String(publicKey.export({ format: "jwk" }).x), "base64url");

/** Signed by the gateway's own key. */
const own = (more: Json = {}, head: Json = {}) => jws({ ...header, ...head }, claims(more), sealedBy(key));
const without = (name: string) => {
  const { [name]: _, ...rest } = claims();
  return jws(header, rest, sealedBy(key));
};

/** In the room already, under the name that most forged tokens give. */
const forger = await enterWith(server, oracle.hide(own()), { topic });

/** Shows a token at every endpoint; each must refuse it with the reason, and leave one record. */
async function refusedEverywhere(token: string, reason: string): Promise<void> {
  oracle.hide(token);
  const status = reason === "topic_forbidden" ? 403 : 401;
  const raw = await RawSocket.connect(server.url);
  raw.write(oracle.handshake(token));
  const { status: onConnect, body } = await raw.answer();
  expect(`${onConnect} ${body.error.reason}`).toBe(`${status} ${reason}`);
  raw.destroy();
  const rest = await server.call("GET", `/v0/topics/${topic}/history`, token);
  expect(`${rest.status} ${rest.body.error.reason}`).toBe(`${status} ${reason}`);
  await oracle.check({ denials: [reason, reason] });
  const refresh = forger.send({ kind: "system", payload: { type: "refresh", token } });
  expect(await forger.outcome(refresh)).toBe(reason);
  await oracle.check({ connection: forger, denials: [reason] });
}

test("control: what these are forged from is a good token", async () => {
  const client = await enterWith(server, oracle.hide(own({ sub: "honest" })), { topic });
  await client.ack(
    client.send({ kind: "system", payload: { type: "refresh", token: own({ sub: "honest" }) } }),
  );
  await oracle.check({ connection: client });
  await client.leave();
});

const forged: [title: string, make: () => string][] = [
  ["alg none, no signature", () => `${jws({ ...header, alg: "none" }, claims(), () => Buffer.alloc(0))}`],
  ["alg none, some signature", () => jws({ ...header, alg: "none" }, claims(), () => Buffer.from("x"))],
  ["alg None", () => jws({ ...header, alg: "None" }, claims(), () => Buffer.from("x"))],
  ["no alg", () => jws({ typ: "mcpx+jwt", kid }, claims(), sealedBy(key))],
  ["HS256 with the public key as PEM", () => jws({ ...header, alg: "HS256" }, claims(), hmacOf(spki))],
  ["HS256 with the public key's bytes", () => jws({ ...header, alg: "HS256" }, claims(), hmacOf(rawPublicKey))],
  ["HS256 with an empty secret", () => jws({ ...header, alg: "HS256" }, claims(), hmacOf(""))],
  ["alg as a list", () => jws({ ...header, alg: ["EdDSA"] }, claims(), sealedBy(key))],
  ["alg in other letters", () => jws({ ...header, alg: "eddsa" }, claims(), sealedBy(key))],
  ["a stranger's key", () => jws(header, claims(), sealedBy(stranger.privateKey))],
  ["a stranger's key, brought along as jwk", () => jws({ ...header, jwk: stranger.publicKey.export({ format: "jwk" }) }, claims(), sealedBy(stranger.privateKey))],
  ["a key named by jku", () => jws({ ...header, jku: `${server.url}/keys` }, claims(), sealedBy(stranger.privateKey))],
  ["a key named by x5u", () => jws({ ...header, x5u: `${server.url}/keys` }, claims(), sealedBy(stranger.privateKey))],
  ["a certificate brought along", () => jws({ ...header, x5c: ["AAAA"] }, claims(), sealedBy(stranger.privateKey))],
  ["our own signature, but a jwk", () => own({}, { jwk: publicKey.export({ format: "jwk" }) })],
  ["our own signature, but crit", () => own({}, { crit: ["exp"] })],
  ["an unencoded payload", () => own({}, { b64: false, crit: ["b64"] })],
  ["no kid", () => own({}, { kid: undefined })],
  ["an unknown kid", () => own({}, { kid: crypto.randomUUID() })],
  ["a kid that is SQL", () => own({}, { kid: "' OR '1'='1" })],
  ["a kid that is a path", () => own({}, { kid: "../../../../dev/null" })],
  ["a kid of Object's own", () => own({}, { kid: "__proto__" })],
  ["a kid that is an object", () => own({}, { kid: { kid } })],
  ["a kid of 4 000 characters", () => own({}, { kid: "x".repeat(4_000) })],
  ["typ JWT", () => own({}, { typ: "JWT" })],
  ["typ at+jwt", () => own({}, { typ: "at+jwt" })],
  ["typ in other letters", () => own({}, { typ: "MCPX+JWT" })],
  ["typ with its prefix", () => own({}, { typ: "application/mcpx+jwt" })],
  ["no typ", () => own({}, { typ: undefined })],
  ["a payload that was changed", () => own().replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify(claims({ admin: true }))).toString("base64url")}.`)],
  ["a signature cut short", () => own().slice(0, -4)],
  ["a signature spelled with padding", () => `${own()}==`],
  ["a signature with a stray bit", () => withStrayBit(own())],
  ["two signatures", () => `${own()}.${own().split(".")[2]}`],
  ["five parts, as if encrypted", () => `${own()}.x.y`],
  ["a payload that is an array", () => jws(header, "[]", sealedBy(key))],
  ["a payload that is no JSON", () => jws(header, canary, sealedBy(key))],
  ["a payload that is not UTF-8", () => jws(header, claims(), sealedBy(key)).replace(/\.[^.]+\./, ".__79.")],
  ["a token of 9 000 characters", () => own({ name: "x".repeat(7_000) })],
]; // biome-ignore format: a table

test.for(forged)("[X0-5.1-3] a forged token opens no endpoint: %s", ([, make]) =>
  refusedEverywhere(make(), "unauthorised"),
);

const badClaims: [title: string, make: () => string, reason?: string][] = [
  ["no exp", () => without("exp")],
  ["exp as text", () => own({ exp: String(now() + 600) })],
  ["exp null", () => own({ exp: null })],
  ["exp in a list", () => own({ exp: [now() + 600] })],
  ["exp negative", () => own({ exp: -1 })],
  ["exp in a thousand years", () => own({ exp: now() + 1_000 * 31_536_000 })],
  ["exp in milliseconds", () => own({ exp: Date.now() + 600_000 })],
  ["exp 1e308", () => own({ exp: 1e308 })],
  ["exp infinite", () => jws(header, JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e400'), sealedBy(key))],
  ["exp a moment ago", () => own({ exp: now() - 1 }), "token_expired"],
  ["exp zero", () => own({ exp: 0 }), "token_expired"],
  ["two exps, the first one good", () => jws(header, JSON.stringify(claims()).replace(/}$/, ',"exp":1}'), sealedBy(key)), "token_expired"],
  ["iat in an hour", () => own({ iat: now() + 3_600 })],
  ["iat as text", () => own({ iat: "now" })],
  ["nbf in an hour", () => own({ nbf: now() + 3_600 })],
  ["nbf as an object", () => own({ nbf: {} })],
  ["no aud", () => without("aud")],
  ["an aud with a slash", () => own({ aud: `${gatewayId}/` })],
  ["an aud in other letters", () => own({ aud: gatewayId.toUpperCase() })],
  ["an aud with a space", () => own({ aud: ` ${gatewayId}` })],
  ["an aud that begins like ours", () => own({ aud: `${gatewayId}0` })],
  ["an aud that is a glob", () => own({ aud: "*" })],
  ["a list of other auds", () => own({ aud: ["a", "b", `${gatewayId}x`] })],
  ["a list in a list of auds", () => own({ aud: [[gatewayId]] })],
  ["an aud that is an object", () => own({ aud: { 0: gatewayId } })],
  ["no iss", () => without("iss")],
  ["another iss", () => own({ iss: "https://evil.example" })],
  ["an iss of Object's own", () => own({ iss: "__proto__" })],
  ["a list of isses", () => own({ iss: [gatewayId] })],
  ["another issuer's iss, our key", () => own({ iss: "https://idp.example" })],
  ["topics as text", () => own({ topics: topic })],
  ["topics as an object", () => own({ topics: { 0: topic } })],
  ["a topic that is a number", () => own({ topics: [topic, 1] })],
  ["an empty topic", () => own({ topics: [""] })],
  ["65 topics", () => own({ topics: Array.from({ length: 65 }, () => topic) })],
  ["a topic of 257 characters", () => own({ topics: ["*".repeat(257)] })],
  ["topics: none", () => own({ topics: [] }), "topic_forbidden"],
  ["topics left out", () => without("topics"), "topic_forbidden"],
  ["topics in other letters", () => own({ topics: ["ROOM:TARGET"] }), "topic_forbidden"],
  ["a question mark as a glob", () => own({ topics: ["room:targe?"] }), "topic_forbidden"],
  ["a regular expression", () => own({ topics: [".*", "room:(target)"] }), "topic_forbidden"],
  ["a star that stops at the slash", () => own({ topics: ["*/room:target"] }), "topic_forbidden"],
  ["stars without end", () => own({ topics: Array.from({ length: 20 }, () => `${"*a".repeat(90)}b`) }), "topic_forbidden"],
  ["double stars without end", () => own({ topics: Array.from({ length: 20 }, () => `${"**o*".repeat(60)}x`) }), "topic_forbidden"],
  ["level admin", () => own({ level: "admin" })],
  ["level in other letters", () => own({ level: "Full" })],
  ["level null", () => own({ level: null })],
  ["level as a list", () => own({ level: ["full"] })],
  ["level of Object's own", () => own({ level: "constructor" })],
  ["kind cyborg", () => own({ kind: "cyborg" })],
  ["admin as text", () => own({ admin: "true" })],
  ["admin as a number", () => own({ admin: 1 })],
  ["a name with a bell", () => own({ name: "a\u0007" })],
  ["a name that is an object", () => own({ name: {} })],
  ["a jti that is a number", () => own({ jti: 1 })],
  ["an empty jti", () => own({ jti: "" })],
  ["a jti of 1 000 characters", () => own({ jti: "x".repeat(1_000) })],
  ["tools as text", () => own({ tools: "**" })],
  ["a segment with a space", () => own({ segment: "a b" })],
  ["cnf null", () => own({ cnf: null })],
  ["cnf without a key", () => own({ cnf: {} })],
  ["cnf with a private key", () => own({ cnf: { jwk: stranger.privateKey.export({ format: "jwk" }) } })],
  ["cnf with a symmetric key", () => own({ cnf: { jwk: { kty: "oct", k: canary } } })],
  ["cnf with an RSA key", () => own({ cnf: { jwk: issuerKeys.publicKey.export({ format: "jwk" }) } })],
  ["cnf with a point off the curve", () => own({ cnf: { jwk: { kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) } } })],
]; // biome-ignore format: a table

test.for(badClaims)(
  "[X0-5.1-3] well signed, but not to be believed: %s",
  ([, make, reason = "unauthorised"]) => refusedEverywhere(make(), reason),
);

const subjects = [
  "system:gateway", "SYSTEM:GATEWAY", "System:x", "system:", "system", "gateway", "GateWay", "", "a b", "a\u0000b", "a\nb", "a\u202eb",
  "a😀", "ａ", "x".repeat(129), "a%2Fb", "a*", "a\"b", 7, null, ["forger"], { id: "forger" }, true,
]; // biome-ignore format: a list

test.for(subjects.map((sub) => ({ sub, title: JSON.stringify(sub).slice(0, 40) })))(
  "[X0-9-3] nobody is called $title",
  ({ sub }) => refusedEverywhere(own({ sub }), "unauthorised"),
);

test("[X0-4-7] a token that names nobody opens no room, and refreshes nobody's connection", async () => {
  const token = oracle.hide(own({ sub: undefined }));
  expect((await refusedOnConnect(server, token, { topic })).message).toBe("401 unauthorised");
  await oracle.check({ denials: ["unauthorised"] });
  const client = await oracle.sameAttacker();
  const refresh = client.send({ kind: "system", payload: { type: "refresh", token } });
  expect(await client.outcome(refresh)).toBe("identity_change");
  await oracle.check({ connection: client, denials: ["identity_change"] });
});

describe("[X0-5.1-2] another issuer's tokens", () => {
  const rsa = { alg: "RS256", typ: "mcpx+jwt", kid: "rsa-1" };
  const theirs = (more: Json = {}) => claims({ iss: "https://idp.example", sub: "guest", ...more });
  const seal = sealedBy(issuerKeys.privateKey, "sha256");
  const pem = issuerKeys.publicKey.export({ format: "pem", type: "spki" });
  const pkcs1 = issuerKeys.publicKey.export({ format: "pem", type: "pkcs1" });
  const confused: [title: string, make: () => string][] = [
    ["HS256 with their public key as PEM", () => jws({ ...rsa, alg: "HS256" }, theirs(), hmacOf(pem))],
    ["HS256 with their public key as PKCS#1", () => jws({ ...rsa, alg: "HS256" }, theirs(), hmacOf(pkcs1))],
    ["another algorithm than configured", () => jws({ ...rsa, alg: "RS512" }, theirs(), sealedBy(issuerKeys.privateKey, "sha512"))],
    ["our algorithm and our key", () => jws(header, theirs(), sealedBy(key))],
    ["our name as the issuer", () => jws(rsa, claims(), seal)],
    ["another issuer's kid", () => jws({ ...rsa, kid: "ec-1" }, theirs(), seal)],
    ["another audience", () => jws(rsa, theirs({ aud: "https://idp.example" }), seal)],
    ["the type of an id token", () => jws({ ...rsa, typ: "JWT" }, theirs(), seal)],
    ["the name of somebody of ours", () => jws(rsa, theirs({ sub: "speaker" }), seal)],
  ]; // biome-ignore format: a table

  test.for(confused)("are not believed with %s", ([, make]) => refusedEverywhere(make(), "unauthorised"));

  test("never give more than the issuer may: no level, no admin, no other topic", async () => {
    const token = oracle.hide(jws(rsa, theirs({ topics: ["**"], level: "full", admin: true }), seal));
    const client = await enterWith(server, token, { topic });
    expect(client.welcome.payload.participant).toEqual({ id: "guest", privilege: "restricted" });
    await oracle.check({ connection: client });
    expect((await server.call("GET", "/admin/audit", token)).status).toBe(403);
    const refusal = await refusedOnConnect(server, token, { topic: "room:other" });
    expect(refusal.message).toBe("403 topic_forbidden");
    await oracle.check({ denials: ["admin_only", "topic_forbidden"] });
    await client.leave();
  });

  test("without a jti stay revoked, whichever signature they show", async () => {
    const body = claims({ iss: "https://curve.example", sub: "curver", jti: undefined });
    const curve = { alg: "ES256", typ: "mcpx+jwt", kid: "ec-1" };
    const token = oracle.hide(jws(curve, body, sealedBy(curveKeys.privateKey, "sha256")));
    const other = oracle.hide(withOtherSignature(token));
    await (await enterWith(server, other, { topic })).leave();
    const client = await enterWith(server, token, { topic });
    const signed = token.slice(0, token.lastIndexOf("."));
    const jti = `sha256:${hash("sha256", signed)}`;
    expect((await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken())).status).toBe(200);
    await oracle.check({ connection: client, closes: 4401 });
    for (const again of [token, other]) {
      expect((await refusedOnConnect(server, again, { topic })).message).toBe("401 token_revoked");
    }
    await oracle.check({ denials: ["token_revoked", "token_revoked"] });
  });

  test("are not believed while nobody can say whether they hold: never a default identity", async () => {
    const body = claims({ iss: "https://gone.example" });
    const token = oracle.hide(jws({ ...header, kid: "any" }, body, sealedBy(stranger.privateKey)));
    expect((await refusedOnConnect(server, token, { topic })).message).toBe("503 identity_unavailable");
    expect((await server.call("GET", "/v0/topics", token)).status).toBe(503);
    await oracle.check({});
  });
});

const headers: [title: string, lines: (token: string) => string[], answer: string][] = [
  ["no scheme", (token) => [token], "401 unauthorised"],
  ["another scheme", (token) => [`Basic ${token}`], "401 unauthorised"],
  ["no space", (token) => [`Bearer${token}`], "401 unauthorised"],
  ["a tab", (token) => [`Bearer\t${token}`], "401 unauthorised"],
  ["a comma behind it", (token) => [`Bearer ${token},`], "401 unauthorised"],
  ["two tokens", (token) => [`Bearer ${token} ${token}`], "401 unauthorised"],
  ["two tokens in a list", (token) => [`Bearer ${token}, Bearer ${token}`], "401 unauthorised"],
  ["quotes", (token) => [`Bearer "${token}"`], "401 unauthorised"],
  ["parameters", (token) => [`Bearer token="${token}"`], "401 unauthorised"],
  ["an escape in it", (token) => [`Bearer ${token.replace(".", "%2E")}`], "401 unauthorised"],
  ["12 000 spaces", (token) => [`Bearer ${" ".repeat(12_000)}${token}!`], "401 unauthorised"],
  ["12 000 equal signs", () => [`Bearer x${"=".repeat(12_000)}!`], "401 unauthorised"],
  ["two headers, the first one good", (token) => [`Bearer ${token}`, "Bearer x"], "400 bad_request"],
  ["two headers, the second one good", (token) => ["Bearer x", `Bearer ${token}`], "400 bad_request"],
  ["two headers, the same", (token) => [`Bearer ${token}`, `Bearer ${token}`], "400 bad_request"],
  ["lower case", (token) => [`bearer ${token}`], "101"],
  ["spaces around it", (token) => [`   Bearer   ${token}   `], "101"],
];

test.for(headers)("[X0-5.1-1] the header with %s: %s", async ([, lines, expected]) => {
  const raw = await RawSocket.connect(server.url);
  const [first = "", second] = lines(await oracle.token());
  const good = oracle.handshake(undefined, { Authorization: first });
  raw.write(second === undefined ? good : good.replace("\r\n\r\n", `\r\nAuthorization: ${second}\r\n\r\n`));
  const { status, body } = await raw.answer();
  expect(status === 101 ? "101" : `${status} ${body.error.reason}`).toBe(expected);
  raw.destroy();
  await oracle.check({ denials: status === 401 ? ["unauthorised"] : [] });
});

describe("[X0-5.1-1] a ticket", () => {
  async function ticketFor(room: string): Promise<string> {
    const token = await oracle.token({ topics: ["**"] });
    const { body } = await server.call("POST", "/v0/tickets", token, { topic: room });
    return oracle.hide(body.ticket);
  }

  test("shown fifty times at once lets in exactly one", async () => {
    const ticket = await ticketFor(topic);
    const shown = await Promise.allSettled(
      Array.from({ length: 50 }, () => TestClient.connect(server.url, undefined, { topic, ticket })),
    );
    const inside = shown.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refusals = shown.flatMap((one) => (one.status === "rejected" ? [one.reason.message] : []));
    expect(inside).toHaveLength(1);
    expect(new Set(refusals)).toEqual(new Set(["401 ticket_invalid"]));
    await oracle.check({
      connection: inside[0],
      denials: Array(49).fill("ticket_invalid"),
      actor: "127.0.0.1",
    });
    await inside[0]?.leave();
  });

  const wrong: [title: string, query: (ticket: string) => Record<string, string>, headers?: Record<string, string>][] = [
    ["for another topic", (ticket) => ({ topic: "room:other", ticket })],
    ["that was made up", () => ({ topic, ticket: "A".repeat(43) })],
    ["that is empty", () => ({ topic, ticket: "" })],
    ["with something behind it", (ticket) => ({ topic, ticket: `${ticket}=` })],
    ["in other letters", (ticket) => ({ topic, ticket: ticket.toLowerCase() })],
    ["of 8 000 characters", () => ({ topic, ticket: "A".repeat(8_000) })],
    ["of Object's own", () => ({ topic, ticket: "__proto__" })],
  ]; // biome-ignore format: a table

  test.for(wrong)("%s lets nobody in", async ([, query]) => {
    const ticket = await ticketFor(topic);
    expect((await refusedOnConnect(server, undefined, query(ticket))).message).toBe("401 ticket_invalid");
    await oracle.check({ denials: ["ticket_invalid"] });
  });

  test("shown at the wrong endpoint is spent", async () => {
    const ticket = await ticketFor(topic);
    await refusedOnConnect(server, undefined, { topic: "room:other", ticket });
    const refusal = await refusedOnConnect(server, undefined, { topic, ticket });
    expect(refusal.message).toBe("401 ticket_invalid");
    await oracle.check({ denials: ["ticket_invalid", "ticket_invalid"] });
  });

  test("and a token at once are too much", async () => {
    const query = { topic, ticket: await ticketFor(topic) };
    expect((await refusedOnConnect(server, await oracle.token(), query)).message).toBe("400 bad_request");
    await oracle.check({ denials: ["bad_request"] });
  });

  test("is no token, and a token is no ticket", async () => {
    const ticket = await ticketFor(topic);
    const asToken = { authorization: `Bearer ${ticket}` };
    expect((await refusedOnConnect(server, undefined, { topic }, asToken)).message).toBe("401 unauthorised");
    const asTicket = { topic, ticket: await oracle.token() };
    expect((await refusedOnConnect(server, undefined, asTicket)).message).toBe("401 ticket_invalid");
    await oracle.check({ denials: ["unauthorised", "ticket_invalid"] });
  });

  test("is not given for a topic the token does not cover", async () => {
    const { status, body } = await server.call("POST", "/v0/tickets", await oracle.token(), { topic: "x" });
    expect(`${status} ${body.error.reason}`).toBe("403 topic_forbidden");
    await oracle.check({ denials: ["topic_forbidden"] });
  });

  test("is given 32 times for one token, however that is spelled", async () => {
    const token = await oracle.token();
    const spelled = oracle.hide(withStrayBit(token));
    const statuses: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      const { status, body } = await server.call("POST", "/v0/tickets", i % 2 ? token : spelled, { topic });
      statuses.push(status);
      if (status === 201) oracle.hide(body.ticket);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    await oracle.check({ denials: Array(20).fill("unauthorised") });
    const rest = await Promise.all(
      Array.from({ length: 20 }, () => server.call("POST", "/v0/tickets", token, { topic })),
    );
    expect(rest.map(({ status }) => status).sort()).toEqual([...Array(12).fill(201), ...Array(8).fill(429)]);
    await oracle.check({});
  });
});

test("control: the oracle sees a denial under the wrong name", async () => {
  const client = await oracle.attacker();
  client.ws.send("no json");
  await client.event("error");
  await expect(
    oracle.check({ connection: client, denials: ["bad_json"], actor: "somebody" }),
  ).rejects.toThrow("the audit names");
  await client.leave();
});
