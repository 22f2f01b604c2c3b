// The REST interface as /openapi.json has it: every address is in it, and what it says is what the gateway does. Test
// servers compare each answer they are asked for; here are the addresses that no other test asks.
import { joinRoom, type Proposal, type RoomEnvelope } from "@mcpx/client";
import { kinds, parseKind } from "@mcpx/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { addresses } from "../../packages/cli/src/openapi/document.ts";
import { faultOfAnswer } from "../support/described-answers.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let admin: string;
let document: Document;

interface Operation {
  operationId: string;
  parameters: { name: string; in: string }[];
  security: unknown[];
  responses: Record<string, unknown>;
}

interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
}

beforeAll(async () => {
  server = await startTestServer();
  admin = await server.adminToken();
  document = (await server.call("GET", "/openapi.json")).body as unknown as Document;
});

afterAll(() => server.stop());

const isDescribed = (path: string) =>
  /^\/(?:v0|admin)\/|^\/(?:healthz|readyz|metrics|openapi\.json|envelope\.schema\.json|\.well-known\/jwks\.json)$/.test(
    path,
  );

test("[B-OBS-1] every address is described, and none that is not there", () => {
  const there = server.routes.filter(({ path }) => isDescribed(path));
  const listed = (all: readonly { method: string; path: string }[]) =>
    all.map(({ method, path }) => `${method} ${path}`).sort();
  expect(listed(addresses)).toEqual(listed(there));
  expect(addresses.length).toBeGreaterThan(45);
});

test("[B-OBS-1] the document is OpenAPI 3.1: names are used once, references and parameters lead somewhere", () => {
  expect(document.openapi).toBe("3.1.0");
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = operation.parameters.filter((one) => one.in === "path").map(({ name }) => name);
    expect([operation.operationId, inPath]).toEqual([operation.operationId, named]);
    expect(operation.responses).toHaveProperty("default");
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(45);
  for (const [, kind = "", name = ""] of references) expect(document.components[kind]).toHaveProperty(name);
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
});

test("what is open to everybody is, and the rest asks for a token", async () => {
  for (const { method, path, access } of addresses) {
    // Programs on this machine may read the metrics.
    if (path === "/metrics") continue;
    const { status } = await server.call(method, path.replace(/:\w+/g, "x"));
    expect([path, access === "everybody" ? status < 400 : status === 401]).toEqual([path, true]);
  }
});

test("[B-OBS-1] what is asked for is answered as described, also where there is little", async () => {
  for (const { method, path } of addresses.filter((one) => one.method === "GET" && !one.path.includes(":"))) {
    const { status } = await server.call(method, path, admin);
    // Names are for whoever reads the data directory; the key to it is no token.
    expect([path, status]).toEqual([path, path === "/admin/names" ? 401 : 200]);
  }
  const posts: [string, unknown, number][] = [
    ["/admin/console-links", {}, 201],
    ["/admin/console-logouts", {}, 200],
    ["/admin/panic", { on: true }, 200],
    ["/admin/rules/test", { tool: "files.read" }, 200],
    ["/admin/rules/try", { rules: [] }, 200],
    ["/admin/secrets/shown", { gate: "g" }, 200],
    ["/v0/tickets", { topic: "demo" }, 201],
  ];
  for (const [path, body, status] of posts)
    expect([path, (await server.call("POST", path, admin, body)).status]).toEqual([path, status]);
  expect((await server.callHere("POST", "/admin/approvers/enrolments", { name: "bob" })).status).toBe(201);
  expect((await server.call("DELETE", "/admin/tokens/nothing", admin)).status).toBe(200);
  expect((await server.call("GET", "/admin/audit?verify=1", admin)).body.chain).toMatchObject({ ok: true });
});

test("control: a field too much, a field too few and another status are found", () => {
  const fault = (body: unknown, status = 200) => faultOfAnswer("GET", "/v0/topics?x=1", { status, body });
  const topics = [{ name: "demo", participants: 1, seq: 7 }];
  expect(fault({ topics })).toBeUndefined();
  expect(fault({ topics, more: 1 })).toContain("more");
  expect(fault({ topics: [{ name: "demo", participants: 1 }] })).toContain("seq");
  expect(fault({ topics }, 201)).toContain("201");
  expect(fault({ topics }, 403)).toContain("error");
  expect(faultOfAnswer("GET", "/mcp", { status: 200, body: {} })).toBeUndefined();
});

test("[B-OBS-1] /envelope.schema.json says what is said in a room: every kind, as it comes out of a real one", async () => {
  const schema = (await server.call("GET", "/envelope.schema.json")).body;
  // Read back from what was served, as a reader of it would.
  const served = z.fromJSONSchema(schema as never);
  const enter = async (sub: string, level: "full" | "restricted") =>
    joinRoom({
      url: server.url,
      topic: "kinds",
      token: await server.token({ sub, topics: ["kinds"], level }),
    });
  const anna = await enter("anna", "full");
  const heard: RoomEnvelope[] = [];
  anna.addEventListener("envelope", ({ detail }) => heard.push(detail));
  const robot = await enter("robot", "restricted");
  await robot.say("here", { format: "markdown" });
  await robot.setStatus("busy");
  const draft = { to: "anna", method: "tools/call", params: { name: "look", arguments: {} }, reason: "x" };
  const first = robot.propose(draft);
  const second = robot.propose(draft);
  for (const { result } of [first, second]) result.catch(() => {});
  await expect.poll(() => anna.proposals.pending().length).toBe(2);
  const [one, two] = anna.proposals.pending() as [Proposal, Proposal];
  await anna.proposals.status(one, "considering");
  await anna.proposals.reject(one, { reason: "no", code: "busy" });
  await robot.proposals.withdraw([two.id], "enough");
  await anna.publish({ kind: "mcp", payload: { jsonrpc: "2.0", method: "notifications/x", params: {} } });
  await anna
    .peer("robot")
    .listTools({ timeoutMs: 200 })
    .catch(() => {});
  await server.call("POST", "/admin/participants/robot/promote?topic=kinds", admin);
  const heardKinds = () => [...new Set(heard.map(({ kind }) => String(parseKind(kind)?.kind)))].sort();
  await expect.poll(heardKinds).toEqual([...kinds].sort());
  await robot.close();
  await anna.close();
  for (const envelope of heard)
    expect([envelope, served.safeParse(envelope).success]).toEqual([envelope, true]);
  // It would see what is wrong.
  const [chat] = heard.filter(({ kind }) => kind === "chat");
  for (const wrong of [{ kind: "chatter" }, { payload: { text: 1 } }, { from: "" }, { protocol: "mcpx/v9" }])
    expect(served.safeParse({ ...chat, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
});
