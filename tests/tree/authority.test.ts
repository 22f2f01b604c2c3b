// Who may see and use what, at the whole server: tokens, profiles, other gateways' tokens; and that nothing of a caller
// but what it says to a server reaches that server.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TokenClaims } from "@mcpx/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Seen } from "../support/test-client.ts";
import { startTestIssuer } from "../support/test-issuer.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { ask, callTool, type Heard, openSession, type Place, post } from "./support/ask.ts";
import { type HttpBackends, startHttpBackends, stdioBackend } from "./support/backends.ts";

const dir = mkdtempSync(join(tmpdir(), "mcpx-authority-"));
const files = ["legacy-child", "modern-child", "legacy-remote", "modern-remote"] as const;
const recorded = () => files.map((file) => readFileSync(join(dir, file), "utf8")).join("\n");
const issuer = await startTestIssuer();
let server: TestServer;
let legacy: HttpBackends;
let modern: HttpBackends;

beforeAll(async () => {
  legacy = await startHttpBackends({ era: "legacy", record: join(dir, "legacy-remote") });
  modern = await startHttpBackends({ era: "modern", record: join(dir, "modern-remote") });
  // From here on: what we start ourselves must not have it.
  process.env.MCPX_TEST_SECRET = "canary-of-our-environment";
  const headers = { "x-of-the-operator": "operator-header" };
  server = await startTestServer({
    issuers: [{ issuer: issuer.issuer, jwksUri: issuer.jwksUri, topics: ["**"], tools: ["legacy-child.*"] }],
    config: {
      mcpServers: {
        "legacy-child": {
          ...stdioBackend({ era: "legacy", record: join(dir, "legacy-child") }),
          env: { OF_THE_OPERATOR: "operator-env" },
        },
        "modern-child": stdioBackend({ era: "modern", record: join(dir, "modern-child") }),
        "legacy-remote": { url: legacy.urlOf("none"), headers },
        "modern-remote": { url: modern.urlOf("none"), headers },
      },
      profiles: { children: { tools: ["*-child.*"] }, safe: { tools: ["**"], names: "safe" } },
    },
  });
  // Everybody is up, and has said who they are.
  await ask(await enter(), "tools/list");
});

afterAll(async () => {
  delete process.env.MCPX_TEST_SECRET;
  await server.stop();
  await Promise.all([legacy.stop(), modern.stop(), issuer.down()]);
  rmSync(dir, { recursive: true });
});

async function enter(claims: Partial<TokenClaims> = {}, profile = ""): Promise<Place> {
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"], ...claims });
  return { url: `${server.url}/mcp${profile}`, token };
}

const namesOf = ({ message }: Heard, kind = "tools"): string[] =>
  message.result[kind].map(({ name, uri }: Seen) => uri ?? name);
const reasonOf = ({ message }: Heard): string | undefined => message.error?.data?.reason;

const granted: [string, Partial<TokenClaims>, string, string[]][] = [
  ["one tool", { tools: ["legacy-child.echo"] }, "", ["legacy-child.echo"]],
  [
    "one server",
    { tools: ["legacy-child.*"] },
    "",
    ["legacy-child.echo", "legacy-child.wait", "legacy-child.work"],
  ],
  ["one tool of all servers", { tools: ["*.work"] }, "", files.map((file) => `${file}.work`).toSorted()],
  ["no tools", { tools: [] }, "", []],
  ["nothing said of tools", { tools: undefined as never }, "", []],
  [
    "all in a profile",
    { tools: ["*.work"] },
    "/children?names=canonical",
    ["legacy-child.work", "modern-child.work"],
  ],
  ["what a profile hides", { tools: ["legacy-remote.*"] }, "/children", []],
  ["our own tools", { tools: ["mcpax.status"] }, "", ["mcpax.status"]],
  ["a glob that is a part of a name", { tools: ["legacy-child.wo"] }, "", []],
];

test.for(granted)(
  "a token with %s sees that, may call that, and nothing else is there",
  async ([, claims, profile, names]) => {
    const place = await enter(claims, profile);
    expect(namesOf(await ask(place, "tools/list"))).toEqual(names);
    const all = files.flatMap((file) => [`${file}.echo`, `${file}.work`]);
    for (const name of all) {
      const heard = await callTool(place, name);
      if (names.includes(name)) expect(heard.message.result).toMatchObject({ content: expect.any(Array) });
      else {
        // As if it were not there at all.
        const absent = await callTool(place, `${name}_not`);
        expect(JSON.stringify(heard.message).replaceAll(name, "")).toBe(
          JSON.stringify({ ...absent.message, id: heard.message.id }).replaceAll(`${name}_not`, ""),
        );
        expect([heard.status, heard.message.error.code]).toEqual([200, -32601]);
      }
    }
  },
);

test("resources and prompts stand under the same globs", async () => {
  const everything = await enter({ tools: ["**"] });
  expect(namesOf(await ask(everything, "resources/list"), "resources")).toHaveLength(4);
  const some = await enter({ tools: ["legacy-child.resources", "modern-child.greet"] });
  expect(namesOf(await ask(some, "resources/list"), "resources")).toEqual(["mcpx://legacy-child/raw://one"]);
  expect(namesOf(await ask(some, "prompts/list"), "prompts")).toEqual(["modern-child.greet"]);
  const read = (uri: string) => ask(some, "resources/read", { uri });
  expect((await read("mcpx://legacy-child/raw://one")).message.result.contents).toHaveLength(1);
  expect(reasonOf(await read("mcpx://modern-child/raw://one"))).toBe("unknown_resource");
  expect(reasonOf(await ask(some, "prompts/get", { name: "legacy-child.greet" }))).toBe("unknown_prompt");
  const nothing = await enter({ tools: [] });
  for (const [method, kind] of [
    ["resources/list", "resources"],
    ["prompts/list", "prompts"],
  ] as const) {
    expect(namesOf(await ask(nothing, method), kind)).toEqual([]);
  }
});

test("a session of one profile or token gives the other nothing", async () => {
  const small = await enter({}, "/children");
  const session = await openSession(small);
  const headers = { "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  expect((await post(small, list, headers)).status).toBe(200);
  expect((await post({ ...small, url: `${server.url}/mcp` }, list, headers)).status).toBe(404);
  expect((await post({ ...(await enter({ sub: "eve" })), url: small.url }, list, headers)).status).toBe(404);
  expect((await ask({ ...small, url: `${server.url}/mcp/none` }, "tools/list")).status).toBe(404);
});

test("without a token one is told where to get one, by header and by metadata", async () => {
  const refused = await fetch(`${server.url}/mcp`, { method: "POST" });
  expect(refused.status).toBe(401);
  const where = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1] ?? "";
  const metadata = await (await fetch(where)).json();
  expect(metadata).toMatchObject({
    resource: `${server.url}/mcp`,
    authorization_servers: [server.url, issuer.issuer],
  });
});

test("[AX-10.1-2] only tokens for this gateway open it", async () => {
  const other = await startTestServer();
  const claims: TokenClaims = { sub: "visitor", topics: [], tools: ["**"] };
  const statusOf = async (token: string) =>
    (await ask({ url: `${server.url}/mcp`, token }, "tools/list")).status;
  expect(await statusOf(await server.token(claims))).toBe(200);
  expect(await statusOf(await other.token(claims))).toBe(401);
  const { gatewayId } = server.identity;
  expect(await statusOf(issuer.token({ ...claims, sub: "guest", aud: gatewayId }))).toBe(200);
  for (const aud of [other.identity.gatewayId, `${gatewayId}x`, "", undefined]) {
    expect(await statusOf(issuer.token({ ...claims, sub: "guest", aud })), `aud ${aud}`).toBe(401);
  }
  await other.stop();
});

test("another issuer's token gives no more than that issuer may give", async () => {
  const token = issuer.token({ sub: "guest", topics: [], tools: ["**"], aud: server.identity.gatewayId });
  const place = { url: `${server.url}/mcp`, token };
  expect(namesOf(await ask(place, "tools/list"))).toEqual([
    "legacy-child.echo",
    "legacy-child.wait",
    "legacy-child.work",
  ]);
  expect(reasonOf(await callTool(place, "legacy-remote.echo"))).toBe("unknown_tool");
});

const canaries = {
  cookie: "session=canary-cookie",
  "x-api-key": "canary-api-key",
  "x-forwarded-for": "192.0.2.77",
  "proxy-authorization": "Basic canary-proxy",
  "user-agent": "canary-agent",
  forwarded: "for=canary-forwarded",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

test("[AX-10.1-1] no credential, header or environment of ours or the caller's reaches a server", async () => {
  const place = await enter({ sub: "canary-subject", name: "canary-name" });
  const session = await openSession(place);
  for (const file of files) {
    await callTool(place, `${file}.echo`, { text: "canary-argument" }, { headers: canaries });
    await ask(place, "resources/read", { uri: `mcpx://${file}/raw://one` }, { headers: canaries });
    await ask(place, "prompts/get", { name: `${file}.greet` }, { headers: canaries });
    await session.request("tools/call", { name: `${file}.echo`, arguments: { text: "canary-argument" } });
  }
  const bytes = recorded();
  // What was meant for them came, four times twice, so the records can be believed.
  expect(bytes.split("canary-argument").length - 1).toBe(8);
  expect(bytes).toContain("operator-header");
  expect(bytes).toContain("operator-env");
  for (const secret of [...place.token.split("."), session.id, ...Object.values(canaries)]) {
    expect(bytes).not.toContain(secret);
  }
  expect(bytes).not.toMatch(/canary-(?!argument)/);
  expect(bytes.toLowerCase()).not.toContain("authorization");
  expect(bytes).not.toContain(server.dataDir);
});

const treeMeta = {
  "x-mcpax-route": ["evil", "echo"],
  "x-mcpax-cursor": 0,
  "x-mcpax-capability": { mutable: false },
  "x-mcpax-hops": 9,
  "x-mcpax-safety": "none",
  "x-mcpax-latency-ms": 1,
  "x-mcpax-event-id": "e",
  "x-mcpax-causal-parent": "c",
  "X-MCPAX-Route": ["evil"],
};

test("[AX-7.2-5] no x-mcpax key a client makes up reaches a plain server, whatever it asks and in whichever era", async () => {
  const place = await enter();
  const session = await openSession(place);
  const _meta = { ...treeMeta, "example.org/kept": "kept-meta" };
  for (const file of files) {
    const requests: [string, object][] = [
      ["tools/call", { name: `${file}.echo`, arguments: {} }],
      ["prompts/get", { name: `${file}.greet` }],
      ["resources/read", { uri: `mcpx://${file}/raw://one` }],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: `${file}.greet` }, argument: { name: "a", value: "" } },
      ],
    ];
    for (const [method, params] of requests) {
      expect((await ask(place, method, params, { meta: _meta })).message.result, method).toBeDefined();
      expect((await session.request(method, { ...params, _meta })).message.result, method).toBeDefined();
    }
  }
  const bytes = recorded();
  expect(bytes.split("kept-meta").length - 1).toBeGreaterThanOrEqual(files.length * 8);
  expect(bytes.toLowerCase()).not.toContain("x-mcpax");
  expect(bytes).not.toContain("evil");
});

test("a header that says other than the body is refused, and no server hears of it", async () => {
  const place = await enter();
  const params = { name: "modern-remote.echo", arguments: { mark: "mismatched" } };
  const wrong: Record<string, string>[] = [
    { "mcp-name": "modern-remote.work" },
    { "mcp-name": "" },
    { "mcp-method": "tools/list" },
    { "mcp-protocol-version": "2025-11-25" },
    { "mcp-name": "=?base64?bW9kZXJuLXJlbW90ZS53b3Jr?=" },
  ];
  for (const headers of wrong) {
    const { status, message } = await ask(place, "tools/call", params, { headers });
    expect([status, message.error.code], JSON.stringify(headers)).toEqual([400, -32020]);
  }
  expect(recorded()).not.toContain("mismatched");
  const encoded = `=?base64?${Buffer.from(params.name).toString("base64")}?=`;
  expect((await ask(place, "tools/call", params, { headers: { "mcp-name": encoded } })).status).toBe(200);
  expect(recorded()).toContain("mismatched");
});

test("a revoked token ends its session, and what it has under way at a server", async () => {
  const { token, jti } = await server.identity.tokens.mint(
    { sub: "bob", topics: [], tools: ["**"] },
    { ttlMs: 60_000 },
  );
  const place = { url: `${server.url}/mcp`, token };
  const session = await openSession(place);
  const waiting = session.request("tools/call", {
    name: "legacy-child.wait",
    arguments: { mark: "to-be-revoked" },
  });
  const listening = ask(place, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  await expect.poll(recorded).toContain("to-be-revoked");
  const cancelled = () => recorded().split("notifications/cancelled").length;
  const before = cancelled();
  expect((await session.request("ping")).status).toBe(200);
  await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
  expect(reasonOf(await waiting)).toBe("token_revoked");
  expect(reasonOf(await listening)).toBe("token_revoked");
  await expect.poll(cancelled).toBe(before + 1);
  expect((await session.request("ping")).status).toBe(401);
  expect((await ask(place, "tools/list")).status).toBe(401);
});

test("an expired token ends what it opened", async () => {
  const token = await server.token({ sub: "carl", topics: [], tools: ["**"] }, 1_500);
  const place = { url: `${server.url}/mcp`, token };
  const session = await openSession(place);
  const waiting = session.request("tools/call", { name: "legacy-child.wait", arguments: {} });
  expect((await session.request("ping")).status).toBe(200);
  expect(reasonOf(await waiting)).toBe("token_expired");
  expect((await session.request("ping")).status).toBe(401);
  expect((await ask(place, "tools/list")).status).toBe(401);
});

test("every call is one record of who called what and how it ended, without what was said", async () => {
  const place = await enter({ sub: "audited" });
  await callTool(place, "modern-child.echo", { secret: "canary-said" });
  await callTool(place, "legacy-remote.work");
  const session = await openSession(place);
  await session.request("tools/call", { name: "legacy-child.echo", arguments: { secret: "canary-said" } });
  const admin = await server.adminToken();
  const audit = async () =>
    (await server.call("GET", "/admin/audit?action=tool.call&actor=audited&limit=100", admin)).body;
  await expect.poll(async () => (await audit()).records.length).toBe(3);
  const { records } = await audit();
  expect(records.map(({ subject }: Seen) => subject).toSorted()).toEqual([
    "legacy-child.echo",
    "legacy-remote.work",
    "modern-child.echo",
  ]);
  for (const record of records) {
    expect(record).toMatchObject({ actor: "audited", detail: { ms: expect.any(Number) } });
    expect(record.reason ?? undefined).toBeUndefined();
  }
  expect(JSON.stringify(records)).not.toContain("canary-said");
  expect(server.logged.join("")).not.toContain("canary-said");
  for (const part of place.token.split(".")) expect(server.logged.join("")).not.toContain(part);
});
