// Who may do what at every address of the gateway: a row for each, so that none comes without a decision about it.
import { localHeader, localProof } from "@mcpx/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { rights } from "./support/rights.ts";
import { linkOf, type Visitor, visit, visitBy } from "./support/visitor.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

/** Every way to come, in the order of the table's columns. */
const comers = [
  ["none", async () => ({})],
  ["restricted token", async () => bearer({ sub: "r", topics: ["**"], level: "restricted" })],
  ["full token", async () => bearer({ sub: "f", topics: ["**"], tools: ["**"], level: "full" })],
  ["admin token", async () => bearer({ sub: "a", topics: ["**"], tools: ["**"], admin: true })],
  ["console by a token", async () => loggedIn(await byToken())],
  ["console here", async () => loggedIn(await visit(server))],
] as const;

async function bearer(claims: Parameters<TestServer["token"]>[0]): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await server.token(claims)}` };
}

/** One token: links of too many are refused. */
let linking: Promise<string> | undefined;

async function byToken() {
  linking ??= server.token({ sub: "a", topics: ["**"], tools: ["**"], admin: true });
  const token = await linking;
  return visitBy(new URL(await linkOf(server, token), server.url).href);
}

function loggedIn({ cookie, half }: { cookie: string; half: string }): Record<string, string> {
  return { cookie, origin: server.url, "x-mcpx-console": half };
}

/** Whether it gets further than who it is: what comes then is about what it asks for. */
async function mayAsk(method: string, path: string, headers: Record<string, string>): Promise<boolean> {
  const left = new AbortController();
  const body = path.endsWith("/panic") ? { on: false } : {};
  const response = await fetch(`${server.url}${path.replace(/:[a-z]+/g, "x")}`, {
    method,
    headers: { ...headers, ...(method === "POST" && { "content-type": "application/json" }) },
    ...(method === "POST" && { body: JSON.stringify(body) }),
    redirect: "manual",
    signal: left.signal,
  });
  left.abort();
  return response.status !== 401 && response.status !== 403;
}

test("[X0-9-2] every address has a row, and every row an address", () => {
  // Those of the page's own files are named by their content, and open to everybody.
  const addresses = server.routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((address) => !address.startsWith("GET /assets/"));
  expect(Object.keys(rights).toSorted()).toEqual([...new Set(addresses)].toSorted());
});

test("[X0-9-2] who may ask what is as the table says, and a login by a token is no more than the token", {
  timeout: 120_000,
}, async () => {
  const found: Record<string, string> = {};
  for (const address of Object.keys(rights)) {
    const [method = "", path = ""] = address.split(" ");
    let row = "";
    for (const [, come] of comers) row += (await mayAsk(method, path, await come())) ? "+" : "-";
    found[address] = row;
  }
  expect(found).toEqual(rights);
});

test("[X0-9-2] what a console login by a token may ask, its token may ask without the console", () => {
  for (const [address, row] of Object.entries(rights)) {
    const own = rights[address.replace("/console/api", "")];
    if (!address.includes("/console/api/") || own === undefined) continue;
    expect([address, row[4]]).toEqual([address, own[3]]);
  }
});

test("[X0-9-2] a console login by a token sees and calls no more than the token does, and ends with it", {
  timeout: 60_000,
}, async () => {
  const claims = {
    sub: "narrow",
    topics: ["lab"],
    tools: ["mcpax.status"],
    level: "restricted",
    admin: true,
  } as const;
  const { token, jti } = await server.identity.tokens.mint(claims, { ttlMs: 600_000 });
  const guest = await visitBy(new URL(await linkOf(server, token), server.url).href);
  const api = "/console/api";
  expect((await guest.call("GET", `${api}/session`)).body).toMatchObject({ user: "narrow" });
  const names = async (visitor: Visitor) => {
    const { body } = await visitor.call("GET", `${api}/tree`);
    return (body.tools as { name: string }[]).map(({ name }) => name);
  };
  expect(await names(guest)).toEqual(["mcpax.status"]);
  const calls = (visitor: Visitor, tool: string) => visitor.call("POST", `${api}/call`, { body: { tool } });
  expect((await calls(guest, "mcpax.status")).status).toBe(200);
  expect((await calls(guest, "mcpax.routes")).status).not.toBe(200);
  const { body: room } = await guest.call("POST", `${api}/room-token`, { body: { tab: "t" } });
  expect(await server.identity.tokens.verify(String(room.token))).toMatchObject({
    ...{ id: "narrow", topics: ["lab"], level: "restricted", admin: false, tools: [] },
  });
  // The control: somebody at the machine.
  const owner = await visit(server);
  expect(await names(owner)).toContain("mcpax.routes");
  expect((await calls(owner, "mcpax.routes")).status).toBe(200);
  // What it did is on record under its own name, and it is over with its token, and the rooms with it.
  const { body: audit } = await owner.call("GET", `${api}/admin/audit?limit=100`);
  expect(JSON.stringify(audit)).toContain('"narrow"');
  await server.identity.revocations.revoke(jti);
  await expect.poll(async () => (await guest.call("GET", `${api}/session`)).status).toBe(401);
  await expect
    .poll(() =>
      server.identity.tokens.verify(String(room.token)).then(
        () => "good",
        (error) => error.code,
      ),
    )
    .toBe("token_revoked");
  const { token: long } = await server.identity.tokens.mint({ ...claims, sub: "brief" }, { ttlMs: 60_000 });
  const brief = await visitBy(new URL(await linkOf(server, long), server.url).href);
  const { body: life } = await brief.call("GET", `${api}/session`);
  const { expiresAt } = await server.identity.tokens.verify(long);
  expect(Date.parse(String(life.expiresAt))).toBe(expiresAt);
});

test("[AX-11.3-6] an admin token neither enrols an approver nor lets gates pass, not even its own calls", async () => {
  const admin = await server.adminToken();
  const wishes = [
    ["/admin/approvers/enrolments", { name: "mallory" }],
    ["/admin/grants/terms", { principal: "other", tools: "**", uses: 1 }],
    ["/admin/panic", { on: false }],
  ] as const;
  for (const [path, body] of wishes) {
    for (const shown of [{}, { [localHeader]: localProof(server.identity, await server.adminToken()) }]) {
      const response = await fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${admin}`, "content-type": "application/json", ...shown },
        body: JSON.stringify(body),
      });
      const { error } = (await response.json()) as { error: { reason: string; message: string } };
      expect([path, response.status, error.reason]).toEqual([path, 403, "privilege_violation"]);
    }
    expect([path, (await server.callHere("POST", path, body)).status]).toEqual([
      path,
      path.endsWith("enrolments") ? 201 : 200,
    ]);
  }
  // Whoever sees something wrong may stop everything.
  expect((await server.call("POST", "/admin/panic", admin, { on: true })).status).toBe(200);
  await server.callHere("POST", "/admin/panic", { on: false });
});
