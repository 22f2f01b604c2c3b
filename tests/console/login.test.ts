// The way into the console and out of it, and who is kept outside.
import { createManualClock, type HttpRequest, localHeader, localProof, systemClock } from "@mcpx/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLoginLinks } from "../../packages/cli/src/console/login-links.ts";
import { createOperatorTokens } from "../../packages/cli/src/console/operator-tokens.ts";
import { createSessions } from "../../packages/cli/src/console/sessions.ts";
import { approvalPage, consoleFiles } from "../../packages/cli/src/console/static-files.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { linkOf, loginPath, type Visitor, visit, visitBy } from "./support/visitor.ts";

let server: TestServer;
let visitor: Visitor;

beforeAll(async () => {
  server = await startTestServer();
  visitor = await visit(server);
});

afterAll(() => server.stop());

const session = "/console/api/session";
/** Somebody at the machine. */
const here = { isLocal: true, epoch: 0 };
const reasonOf = ({ body }: { body: Record<string, unknown> }) =>
  (body.error as { reason?: string } | undefined)?.reason;

test("[X1-8-1] a link lets one browser in, once, with a cookie no script can read", async () => {
  const path = await loginPath(server);
  expect(path).toMatch(/^\/in\/[A-Za-z0-9_-]{32}$/);
  const first = await fetch(`${server.url}${path}`, { redirect: "manual" });
  expect(first.status).toBe(303);
  expect(first.headers.get("location")).toMatch(/^\/#in=[A-Za-z0-9_-]{43}$/);
  const port = new URL(server.url).port;
  expect(first.headers.get("set-cookie")).toMatch(
    new RegExp(`^mcpx-console-${port}=[^;]+; Path=/console; HttpOnly; SameSite=Strict; Max-Age=43200$`),
  );
  const second = await fetch(`${server.url}${path}`, { redirect: "manual" });
  expect(second.status).toBe(401);
  expect(await second.json()).toMatchObject({ error: { reason: "ticket_invalid" } });
  expect(second.headers.get("set-cookie")).toBeNull();
});

test("a browser that opens a used link is led to the page, which says so; nobody is let in", async () => {
  const path = await loginPath(server);
  const open = (accept: string) => fetch(`${server.url}${path}`, { redirect: "manual", headers: { accept } });
  expect((await open("text/html,*/*;q=0.8")).headers.get("location")).toMatch(/^\/#in=/);
  const again = await open("text/html,application/xhtml+xml,*/*;q=0.8");
  expect([again.status, again.headers.get("location")]).toEqual([303, "/#used"]);
  expect(again.headers.get("set-cookie")).toBeNull();
  expect((await open("application/json")).status).toBe(401);
});

test("links end after ten minutes, and none can be guessed", () => {
  const clock = createManualClock();
  const links = createLoginLinks(clock);
  const [old, young] = [links.make(here), links.make(here)];
  expect(links.use(young)).toEqual(here);
  clock.advance(600_001);
  expect(() => links.use(old)).toThrow(/used or is too old/);
  expect(() => links.use("")).toThrow();
  expect(() => links.use(undefined)).toThrow();
});

test("whoever has only a token takes no links away from others, however many it makes", () => {
  const links = createLoginLinks(createManualClock());
  const token = { ...here, isLocal: false, token: "t" };
  const [printed, first] = [links.make(here), links.make(token)];
  for (let n = 0; n < 100; n += 1) links.make(token);
  expect(links.use(printed)).toEqual(here);
  // Control: its own it does.
  expect(() => links.use(first)).toThrow(/used or is too old/);
});

test("who is logged in reads and administers; nobody else does", async () => {
  expect(await visitor.call("GET", session)).toMatchObject({ status: 200, body: { isDemo: false } });
  for (const path of [
    "/v0/topics",
    "/admin/audit",
    "/admin/gates",
    "/admin/tokens",
    "/admin/rules",
    "/tree",
  ]) {
    const inside = await visitor.call("GET", `/console/api${path}`);
    expect([path, inside.status]).toEqual([path, 200]);
    const outside = await fetch(`${server.url}/console/api${path}`);
    expect([path, outside.status]).toEqual([path, 401]);
  }
  // What is not for admins is not offered, with or without a login.
  expect((await visitor.call("POST", "/console/api/v0/tickets", { body: { topic: "x" } })).status).toBe(404);
  expect((await visitor.call("GET", "/console/api/metrics")).status).toBe(404);
});

test.each([
  ["no cookie", { cookie: "" }],
  ["a forged cookie", { cookie: "mcpx-console=AAAAAAAAAAAAAAAAAAAAAA.9999999999999.x" }],
  ["the cookie alone, as another port of this machine would have it", { "x-mcpx-console": "" }],
  ["the half of somebody else", { "x-mcpx-console": "A".repeat(43) }],
])("[X0-9-2] %s opens nothing", async (_, headers) => {
  expect(await visitor.call("GET", session, { headers })).toMatchObject({ status: 401 });
  const minted = await visitor.call("POST", "/console/api/room-token", { headers, body: { tab: "a" } });
  expect(minted.status).toBe(401);
});

test("a cookie that was changed in any part is none", async () => {
  const [name = "", value = ""] = visitor.cookie.split("=");
  const [id = "", expires = "", mark = "", mac = ""] = value.split(".");
  expect(mark).toBe("0local");
  const later = `${Number(expires) + 1_000}`;
  const other = id.startsWith("A") ? `B${id.slice(1)}` : `A${id.slice(1)}`;
  for (const forged of [
    `${id}.${later}.${mark}.${mac}`,
    `${other}.${expires}.${mark}.${mac}`,
    `${id}.${expires}.1local.${mac}`,
    `${id}.${expires}.0token.${mac}`,
    `${id}.${expires}.${mac}`,
    `${id}.${expires}.${mark}.`,
    value.slice(1),
  ]) {
    const headers = { cookie: `${name}=${forged}` };
    expect((await visitor.call("GET", session, { headers })).status, forged).toBe(401);
  }
  // Twice is not once.
  const twice = { cookie: `${visitor.cookie}; ${visitor.cookie}` };
  expect((await visitor.call("GET", session, { headers: twice })).status).toBe(401);
  expect((await visitor.call("GET", session)).status).toBe(200);
});

test.each([
  ["another site", { origin: "http://evil.example" }],
  ["another port", { origin: "http://127.0.0.1:1" }],
  ["no page at all", { origin: "" }],
  ["a page of the same site", { "sec-fetch-site": "same-site" }],
])("[X0-9-2] a request from %s changes nothing", async (_, headers) => {
  const { origin, ...rest } = { origin: server.url, ...headers };
  const response = await fetch(`${server.url}/console/api/admin/panic`, {
    method: "POST",
    headers: {
      cookie: visitor.cookie,
      "x-mcpx-console": visitor.half,
      "content-type": "application/json",
      ...(origin !== "" && { origin }),
      ...rest,
    },
    body: '{"on":true}',
  });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ error: { reason: "foreign_origin" } });
  // The control: it is not on, and the page's own request is heard.
  const { body } = await visitor.call("GET", "/console/api/admin/gates");
  expect(body.panic).toBe(false);
  const own = await visitor.call("POST", "/console/api/admin/panic", { body: { on: false } });
  expect(own.status).toBe(200);
});

test("a page elsewhere that may use the API with a token still has no business here", async () => {
  const friendly = await startTestServer({ origins: ["https://friend.example"] });
  try {
    const there = await visit(friendly);
    const headers = { origin: "https://friend.example" };
    expect(reasonOf(await there.call("GET", session, { headers }))).toBe("foreign_origin");
    expect((await there.call("GET", session)).status).toBe(200);
  } finally {
    await friendly.stop();
  }
});

test("the page gets a token for rooms, short and without an admin's rights", async () => {
  const { status, body } = await visitor.call("POST", "/console/api/room-token", { body: { tab: "t1" } });
  expect(status).toBe(201);
  const token = String(body.token);
  const principal = await server.identity.tokens.verify(token);
  expect(principal).toMatchObject({ admin: false, level: "full", kind: "human", tools: [] });
  expect(principal.id).toMatch(/@console\.t1$/);
  expect(principal.expiresAt - Date.now()).toBeLessThanOrEqual(601_000);
  expect((await server.call("GET", "/admin/audit", token)).status).toBe(403);
  for (const tab of ["", "UPPER", "x".repeat(9), "a/b", 7]) {
    const bad = await visitor.call("POST", "/console/api/room-token", { body: { tab } });
    expect(bad.status, String(tab)).toBe(400);
  }
});

test("[B-AUDIT-1] logging out ends the session and its tokens, and is on record", async () => {
  const leaving = await visit(server);
  const { body } = await leaving.call("POST", "/console/api/room-token", { body: { tab: "t2" } });
  const answer = await leaving.call("POST", "/console/api/logout", { body: {} });
  expect(answer.headers.get("set-cookie")).toMatch(/=; .*Max-Age=0$/);
  expect((await leaving.call("GET", session)).status).toBe(401);
  const ticket = await server.call("POST", "/v0/tickets", String(body.token), { topic: "x" });
  expect(ticket).toMatchObject({ status: 401, body: { error: { reason: "token_revoked" } } });
  // The others stay.
  expect((await visitor.call("GET", session)).status).toBe(200);
  const { records } = (await visitor.call("GET", "/console/api/admin/audit")).body as {
    records: { action: string; reason?: string }[];
  };
  const actions = records.map(({ action, reason }) => `${action} ${reason ?? ""}`.trim());
  expect(actions).toContain("console.login");
  expect(actions).toContain("console.logout");
  expect(actions).toContain("console.login ticket_invalid");
});

test("a restart of the gateway logs nobody out; who had left stays out", async () => {
  const stays = await visit(server);
  const leaves = await visit(server);
  await leaves.call("POST", "/console/api/logout", { body: {} });
  await server.restart();
  expect((await stays.call("GET", session)).status).toBe(200);
  expect((await leaves.call("GET", session)).status).toBe(401);
});

test("tokens made at the console are bounded, and never an admin's", async () => {
  const mint = (body: object) => visitor.call("POST", "/console/api/tokens", { body });
  const good = { id: "bob", topics: ["kitchen"], level: "restricted", kind: "agent", ttlMs: 60_000 };
  const { status, body } = await mint({ ...good, admin: true });
  expect(status).toBe(201);
  expect(await server.identity.tokens.verify(String(body.token))).toMatchObject({ id: "bob", admin: false });
  const wrong = [
    { id: "" },
    { id: "system:gateway" },
    { topics: "kitchen" },
    { topics: ["kit chen"] },
    { topics: Array.from({ length: 21 }, () => "x") },
    { level: "god" },
    { kind: "cat" },
    { ttlMs: 0 },
    { ttlMs: 91 * 86_400_000 },
    { ttlMs: "1h" },
  ];
  for (const change of wrong) {
    expect((await mint({ ...good, ...change })).status, JSON.stringify(change)).toBe(400);
  }
});

test("over HTTPS the cookie is bound to its host, and goes nowhere in plain", () => {
  const sessions = createSessions({
    identity: server.identity,
    clock: systemClock,
    mayLogIn: () => false,
    endOfToken: () => undefined,
  });
  const request = (headers: object, origin = "https://mcpx.example") =>
    ({
      method: "GET",
      origin,
      headers: { host: "mcpx.example", ...headers },
      belongsTo() {},
    }) as unknown as HttpRequest;
  const { cookie, half, id } = sessions.begin(request({}), here);
  expect(cookie).toMatch(
    /^__Host-mcpx-console=[^;]+; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  );
  const [pair] = cookie.split(";");
  expect(sessions.check(request({ cookie: pair, "x-mcpx-console": half })).id).toBe(id);
  // The same value under the plain name is none.
  const plain = pair?.replace("__Host-", "");
  expect(() => sessions.check(request({ cookie: plain, "x-mcpx-console": half }))).toThrow(
    /nobody is logged in/,
  );
});

test("a session ends after its time, whatever is shown", () => {
  const clock = createManualClock();
  const sessions = createSessions({
    identity: server.identity,
    clock,
    mayLogIn: () => false,
    endOfToken: () => undefined,
  });
  const plain = (headers: object) =>
    ({
      method: "GET",
      origin: "http://localhost:1",
      headers: { host: "localhost:1", ...headers },
      belongsTo() {},
    }) as unknown as HttpRequest;
  const { cookie, half } = sessions.begin(plain({}), here);
  const shown = plain({ cookie: cookie.split(";")[0], "x-mcpx-console": half });
  clock.advance(12 * 3_600_000 - 1);
  sessions.check(shown);
  clock.advance(2);
  expect(() => sessions.check(shown)).toThrow(/nobody is logged in/);
});

test("only an admin makes links", async () => {
  const plain = await server.token({ sub: "plain", topics: ["**"] });
  expect((await server.call("POST", "/admin/console-links", plain, {})).status).toBe(403);
  expect((await server.call("POST", "/admin/console-links", undefined, {})).status).toBe(401);
});

test("[X0-9-2] a link that a token alone has made changes no servers, registers no passkeys and enrols no approvers", async () => {
  const token = await server.adminToken();
  const linkBy = async (proof?: string) => {
    const path = await linkOf(server, token, proof === undefined ? {} : { [localHeader]: proof });
    return new URL(path, server.url).href;
  };
  const another = localProof(server.identity, await server.adminToken());
  const body = { change: { type: "remove", name: "x" }, digest: "" };
  const refused = async (visitor: Visitor) => {
    expect((await visitor.call("GET", session)).status).toBe(200);
    for (const path of ["servers/change", "passkeys/options", "passkeys", "approvers"]) {
      const answer = await visitor.call("POST", `/console/api/${path}`, { body });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.body.error).toMatchObject({
        message: expect.stringContaining("came from a token"),
        suggestion: expect.stringContaining("`mcpx console` makes on the gateway's machine"),
      });
    }
  };
  for (const given of [undefined, "", "7", "A".repeat(43), another]) {
    await refused(await visitBy(await linkBy(given)));
  }
  // Nor does a link that such a login makes.
  const guest = await visitBy(await linkBy());
  const { body: made } = await guest.call("POST", "/console/api/admin/console-links", { body: {} });
  await refused(await visitBy(`${server.url}${made.path}`));
  // The control: who has the data directory gets as far as the file, which there is none of here.
  const owner = await visitBy(await linkBy(localProof(server.identity, token)));
  expect((await owner.call("POST", "/console/api/servers/change", { body })).status).toBe(404);
  const { body: own } = await owner.call("POST", "/console/api/admin/console-links", { body: {} });
  const second = await visitBy(`${server.url}${own.path}`);
  expect((await second.call("POST", "/console/api/servers/change", { body })).status).toBe(404);
});

test("[X0-9-2] logging everybody out ends every login, its tokens and unused links, also over a restart", async () => {
  const own = await startTestServer();
  try {
    const [anna, ben] = [await visit(own), await visit(own)];
    const { body } = await ben.call("POST", "/console/api/room-token", { body: { tab: "t1" } });
    const ticket = () => own.call("POST", "/v0/tickets", String(body.token), { topic: "x" });
    const unused = new URL(await loginPath(own), own.url).href;
    const plain = await own.token({ sub: "plain", topics: ["**"] });
    expect((await own.call("POST", "/admin/console-logouts", plain, {})).status).toBe(403);
    expect((await ticket()).status).toBe(201);
    expect((await anna.call("POST", "/console/api/admin/console-logouts", { body: {} })).status).toBe(200);
    const late = await visitBy(unused);
    const outside = async () => {
      for (const one of [anna, ben, late]) expect((await one.call("GET", session)).status).toBe(401);
    };
    await outside();
    expect((await ticket()).status).toBe(401);
    // Who comes now is in, until it is done again.
    const carl = await visit(own);
    await own.restart();
    await outside();
    expect((await carl.call("GET", session)).status).toBe(200);
    expect((await own.call("POST", "/admin/console-logouts", await own.adminToken(), {})).status).toBe(200);
    expect((await carl.call("GET", session)).status).toBe(401);
    await outside();
    expect((await (await visit(own)).call("GET", session)).status).toBe(200);
  } finally {
    await own.stop();
  }
});

test("[X0-9-4] no token of the console outlives its session, and none is forgotten for another", async () => {
  const clock = createManualClock(Date.now());
  const ended = new Set<string>();
  const isOver = ({ id }: { id: string }) => ended.has(id);
  const tokens = createOperatorTokens({
    identity: server.identity,
    clock,
    user: "anna",
    isOver,
    logins: { find: () => undefined },
  });
  const login = (id: string) => ({ id, expiresAt: Date.now() + 60_000, ...here });
  const isGood = async (token: unknown) =>
    server.identity.tokens.verify(String(token)).then(
      () => true,
      () => false,
    );
  const late = login("late");
  const before = await tokens.room(late, "a");
  expect(await isGood(before.token)).toBe(true);
  ended.add("late");
  tokens.revoke(late);
  // Its body came in only now.
  await expect(tokens.room(late, "a")).rejects.toMatchObject({ code: "unauthorised" });
  expect(await isGood(before.token)).toBe(false);
  const busy = login("busy");
  const first = await tokens.room(busy, "a");
  for (let count = 1; count < 200; count += 1) await tokens.room(busy, "a");
  await expect(tokens.room(busy, "a")).rejects.toMatchObject({ code: "rate_limited" });
  tokens.revoke(busy);
  expect(await isGood(first.token)).toBe(false);
  // What has ended by itself makes room.
  const patient = login("patient");
  for (let count = 0; count < 200; count += 1) await tokens.room(patient, "a");
  clock.advance(600_001);
  await tokens.room(patient, "a");
});

test("a key of the browser becomes an approver's, and nobody's name is taken", async () => {
  const { publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, [
    "sign",
    "verify",
  ]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  const jwk = { kty, crv, x, y };
  const enrol = (body: object) => visitor.call("POST", "/console/api/approvers", { body });
  expect((await enrol({ name: "anna", jwk: { ...jwk, d: "secret" } })).status).toBe(400);
  expect((await enrol({ name: "../anna", jwk })).status).toBe(400);
  expect((await enrol({ name: "anna", jwk: { kty: "RSA" } })).status).toBe(400);
  expect(await enrol({ name: "anna", jwk })).toMatchObject({ status: 201, body: { name: "anna" } });
  expect((await enrol({ name: "anna", jwk })).status).toBe(409);
  expect((await enrol({ name: "Anna", jwk: { ...jwk, x: y, y: x } })).status).toBeGreaterThanOrEqual(400);
  const { body } = await visitor.call("GET", "/console/api/admin/gates");
  expect(body.approvers).toMatchObject([{ name: "anna", kind: "key" }]);
});

test("[X0-9-2] the page is the same for everybody, and nothing else runs in it", async () => {
  const page = await fetch(`${server.url}/`);
  expect(page.status).toBe(200);
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:\/\/|\*/);
  const text = await page.text();
  const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(files.length).toBeGreaterThan(2);
  const manifest = files.splice(files.indexOf("/console/manifest.webmanifest"), 1);
  expect(await (await fetch(`${server.url}${manifest}`)).json()).toMatchObject({ name: "mcpx" });
  for (const file of files) {
    expect(file).toMatch(/^\/assets\//);
    const asset = await fetch(`${server.url}${file}`);
    expect([file, asset.status]).toEqual([file, 200]);
    expect(asset.headers.get("cache-control")).toContain("immutable");
  }
  expect(text).not.toMatch(/<script>|style=|onload=/);
});

test("files of the page go out packed to whoever takes that, and are the same unpacked", async () => {
  const { routes } = consoleFiles();
  const paths = routes.map(({ path }) => path).filter((path) => /^\/assets\/.*\.js$/.test(path));
  const script = paths[0] ?? "";
  const get = async (encoding: string) => {
    const answer = await fetch(`${server.url}${script}`, { headers: { "accept-encoding": encoding } });
    const { headers } = answer;
    expect(headers.get("vary")).toBe("accept-encoding");
    const [packing, length] = [headers.get("content-encoding"), Number(headers.get("content-length"))];
    return { packing, length, text: await answer.text() };
  };
  const plain = await get("identity");
  expect(plain).toMatchObject({ packing: null, length: Buffer.byteLength(plain.text) });
  for (const encoding of ["gzip", "br, GZIP;q=0.5"]) {
    const packed = await get(encoding);
    expect(packed).toMatchObject({ packing: "gzip", text: plain.text });
    expect(packed.length).toBeLessThan(plain.length);
  }
  for (const encoding of ["br", "gzip;q=0", "gzip; q=0.00", "x-gzip-not"]) {
    expect(await get(encoding)).toEqual(plain);
  }
});

test("without a build the gateway says how to make one", async () => {
  const { isBuilt, routes } = consoleFiles(["/nowhere"]);
  expect(isBuilt).toBe(false);
  const [page] = routes;
  const request = { origin: "http://localhost" } as Parameters<NonNullable<typeof page>["handle"]>[0];
  expect(JSON.stringify(await page?.handle(request))).toContain("npm run console");
  expect(approvalPage(["/nowhere"]).text).toContain("npm run console");
});
