// Scanners: what looks at a result before its caller does. A real webhook and a real server judge real results; what
// they hold an approver releases.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text as bodyOf } from "node:stream/consumers";
import { createWebhookVerifier } from "@mcpx/bridges";
import { type PublicJwk, signDecision, thumbprint } from "@mcpx/host";
import { type GateTerms, type JsonObject, statementOf } from "@mcpx/protocol";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { programArgs } from "../support/programs.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { ask, callTool } from "../tree/support/ask.ts";

const secret = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
const verify = createWebhookVerifier(secret);
const alice = generateKeyPairSync("ed25519");
const jwk = alice.publicKey.export({ format: "jwk" }) as unknown as PublicJwk;

/** What the webhook says of each tool, and to each result; a status, or nothing at all. */
let saysOfTool: typeof says;
let says: (question: JsonObject) => JsonObject | number | undefined;
let asked: { question: JsonObject; signature: string }[] = [];
let askedOfTools: typeof asked = [];

const webhook = createServer(async (message, response) => {
  const body = await bodyOf(message);
  const question = JSON.parse(body) as JsonObject;
  const headers = message.headers as Record<string, string>;
  const isOfTool = question.type === "tool.definition";
  const signature = verify({ headers, body }, Date.now());
  (isOfTool ? askedOfTools : asked).push({ question, signature });
  const answer = (isOfTool ? saysOfTool : says)(question);
  if (answer === undefined) return;
  if (typeof answer === "number") response.writeHead(answer).end();
  else response.end(JSON.stringify(answer));
});

let server: TestServer;
let traces: string;

beforeAll(() => new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  webhook.closeAllConnections();
  webhook.close();
});
beforeEach(() => {
  [asked, askedOfTools] = [[], []];
  saysOfTool = () => ({ verdict: "pass" });
  says = () => ({ verdict: "pass" });
  traces = join(mkdtempSync(join(tmpdir(), "mcpx-scanners-")), "traces");
});
afterEach(async () => {
  await server.stop();
  rmSync(dirname(traces), { recursive: true });
});

async function begin(scanner: object = {}, rules: object[] = []) {
  const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/scan`;
  const command = process.execPath;
  const archive = programArgs("tests/gates/support/archive.ts");
  server = await startTestServer({
    config: {
      mcpServers: {
        archive: { command, args: [...archive, traces], trusted: true },
        guard: { command, args: [...programArgs("tests/gates/support/guard.ts")], trusted: true },
      },
      scanners: { dlp: { deadline: 60_000, ...("server" in scanner ? {} : { url, secret }), ...scanner } },
      gates: { hold: 0, anchors: [{ name: "alice", jwk: { ...jwk } }], rules: rules as never },
    },
  });
}

async function call(tool: string, args: JsonObject = {}): Promise<JsonObject> {
  const token = await server.token({ sub: "agent", topics: [], tools: ["**"] });
  const { message } = await callTool({ url: `${server.url}/mcp`, token }, tool, args);
  return (message.result ?? message.error) as JsonObject;
}

const made = () => readFileSync(traces, "utf8").trimEnd().split("\n");
const plain = { content: [{ type: "text", text: "<b>the-secret is</b>\n12345.0\u001b[2J" }] };
const confirmation = { structuredContent: { status: "confirmation_required" } };

async function decide(status: string): Promise<JsonObject> {
  const admin = await server.adminToken();
  const [gate] = (await server.call("GET", `/admin/gates?status=${status}`, admin)).body.gates;
  const statement = statementOf(gate.terms as GateTerms, "approve");
  const proof = await signDecision(statement, alice.privateKey, thumbprint(jwk));
  const { body } = await server.call("POST", `/admin/gates/${gate.id}/decision`, admin, { proof });
  return body;
}

async function scans(): Promise<string[]> {
  const { body } = await server.call("GET", "/admin/audit?action=scan.*", await server.adminToken());
  return body.records.map((one: JsonObject) => `${one.action} ${one.actor} ${one.subject}`);
}

test("what passes comes as it was, and the webhook is told by a signed question, without arguments", async () => {
  await begin();
  expect(await call("archive.plain", { of: "ben" })).toMatchObject(plain);
  expect(asked).toMatchObject([
    {
      question: { type: "tool.result", tool: "archive.plain", server: "archive", result: plain },
      signature: "good",
    },
  ]);
  expect(JSON.stringify(asked)).not.toContain("ben");
  expect(await scans()).toEqual([]);
});

test("what is masked comes as the scanner wrote it, and nothing beside it", async () => {
  await begin();
  const content = [{ type: "text", text: "▒▒▒" }];
  says = () => ({
    verdict: "mask",
    result: { content, _meta: { "x-mcpax-route": ["forged"] } },
    reason: "secret",
  });
  const result = await call("archive.plain");
  expect(result).toMatchObject({ content });
  expect(JSON.stringify(result)).not.toMatch(/secret|forged|12345/);
  expect(await scans()).toEqual(["scan.mask scanner:dlp archive.plain"]);
});

test("what is held is seen after an approver's signature, and who asks again makes no second call", async () => {
  await begin();
  says = () => ({ verdict: "hold", reason: "looks like wages" });
  const held = await call("archive.plain", { of: "ben" });
  expect(held).toMatchObject(confirmation);
  expect(JSON.stringify(held)).not.toContain("12345");
  expect(await call("archive.plain", { of: "ben" })).toMatchObject(confirmation);
  expect(made()).toHaveLength(1);
  // Another call is another call.
  says = () => ({ verdict: "pass" });
  expect(await call("archive.plain", { of: "ann" })).toMatchObject(plain);
  expect(await decide("held")).toMatchObject({ status: "done", why: "the scanner dlp" });
  expect(await call("archive.plain", { of: "ben" })).toMatchObject(plain);
  expect(made()).toHaveLength(2);
  expect(await scans()).toEqual(["scan.hold scanner:dlp archive.plain"]);
});

test("a call that was approved is looked at as well", async () => {
  await begin({}, [{ tools: "archive.*", action: "ask" }]);
  says = () => ({ verdict: "hold" });
  expect(await call("archive.plain")).toMatchObject(confirmation);
  expect(asked).toEqual([]);
  await decide("pending");
  await expect.poll(() => asked.length).toBe(1);
  expect(await call("archive.plain")).toMatchObject(confirmation);
  await expect.poll(async () => (await decide("held")).status).toBe("done");
  expect(await call("archive.plain")).toMatchObject(plain);
  expect(made()).toHaveLength(1);
});

test("a scanner that is silent, fails, or says what nobody understands: the result is held", async () => {
  await begin({ deadline: 300 });
  const answers = [undefined, 500, { verdict: "maybe" }, { verdict: "mask", result: { text: "x" } }];
  for (const [of, answer] of answers.entries()) {
    says = () => answer as JsonObject;
    expect([answer, await call("archive.plain", { of })]).toMatchObject([answer, confirmation]);
  }
  expect(await scans()).toEqual(answers.map(() => "scan.hold scanner:dlp archive.plain"));
});

test("where the operator said so it passes instead, and the audit tells", async () => {
  await begin({ whenDown: "pass" });
  says = () => 500;
  expect(await call("archive.plain")).toMatchObject(plain);
  expect(await scans()).toEqual(["scan.unjudged scanner:dlp archive.plain"]);
});

test("a result that is too large to be held is withheld, and its caller knows that the call was made", async () => {
  await begin();
  says = () => ({ verdict: "hold" });
  expect(await call("archive.huge")).toMatchObject({ data: { reason: "result_withheld" } });
  expect(made()).toHaveLength(1);
});

test("a tool of a server judges as well, whose own results nobody judges", async () => {
  await begin({ server: "guard", tools: ["**"] });
  expect(await call("archive.plain")).toMatchObject({
    content: [{ type: "text", text: "<b>the-▒▒▒ is</b>\n12345.0\u001b[2J" }],
  });
  const own = await call("guard.scan", { result: plain });
  expect(JSON.stringify(own)).toContain("mask");
  expect(await scans()).toEqual(["scan.mask scanner:dlp archive.plain"]);
});

test("tools that are not named are not looked at", async () => {
  await begin({ tools: ["archive.salary"] });
  expect(await call("archive.plain")).toMatchObject(plain);
  expect(asked).toEqual([]);
});

async function listed(): Promise<Record<string, unknown>> {
  const token = await server.token({ sub: "agent", topics: [], tools: ["**"] });
  const { message } = await ask({ url: `${server.url}/mcp`, token }, "tools/list");
  const { tools } = message.result as { tools: { name: string; description: string }[] };
  return Object.fromEntries(tools.map(({ name, description }) => [name, description]));
}

const ofTool =
  (name: string, answer: JsonObject | number) =>
  ({ tool }: JsonObject) =>
    tool === name ? answer : { verdict: "pass" };

test("a tool is looked at before anybody sees it, once, by a signed question with its definition", async () => {
  await begin();
  expect(await listed()).toMatchObject({ "archive.plain": "Reads plain" });
  const [question] = askedOfTools.filter((one) => one.question.tool === "archive.plain");
  const definition = { name: "plain", description: "Reads plain", inputSchema: { type: "object" } };
  expect(question).toMatchObject({ signature: "good", question: { server: "archive", definition } });
  await call("archive.plain");
  await call("archive.salary");
  expect(askedOfTools.map((one) => one.question.tool).toSorted()).toEqual(
    Object.keys(await listed())
      .filter((name) => !name.startsWith("mcpax"))
      .toSorted(),
  );
});

test("a tool that a scanner holds waits until an operator has looked, and is neither listed nor called before", async () => {
  await begin();
  saysOfTool = ofTool("archive.plain", { verdict: "hold", reason: "it gives orders" });
  expect(Object.keys(await listed())).toContain("archive.salary");
  expect(Object.keys(await listed())).not.toContain("archive.plain");
  expect(await call("archive.plain")).toMatchObject({ data: { reason: "tool_quarantined" } });
  expect(await scans()).toEqual(["scan.hold scanner:dlp archive.plain"]);
  const accepted = await server.callHere("POST", "/admin/tools/archive.plain/accept");
  expect(accepted.status).toBe(200);
  expect(await call("archive.plain")).toMatchObject(plain);
});

test("words that a scanner masks in a tool are replaced, and nothing else of it is", async () => {
  await begin();
  const definition = { description: "Reads a paper" };
  saysOfTool = ofTool("archive.plain", { verdict: "mask", definition, reason: "it gives orders" });
  expect(await listed()).toMatchObject({
    "archive.plain": "Reads a paper",
    "archive.salary": "Reads salary",
  });
  expect(await call("archive.plain")).toMatchObject(plain);
  expect(await scans()).toEqual(["scan.mask scanner:dlp archive.plain"]);
  // With other arguments it would be another tool.
  await server.stop();
  await begin();
  saysOfTool = ofTool("archive.plain", { verdict: "mask", definition: { inputSchema: {} } });
  expect(Object.keys(await listed())).not.toContain("archive.plain");
});

test("a new tool that a scanner has not judged is left out until it has; one that was known stays", async () => {
  await begin();
  saysOfTool = () => 500;
  expect(Object.keys(await listed()).filter((name) => name.startsWith("archive."))).toEqual([]);
  expect(await call("archive.plain")).toMatchObject({ data: { reason: "unknown_tool" } });
  saysOfTool = () => ({ verdict: "pass" });
  await expect.poll(listed, { timeout: 30_000 }).toMatchObject({ "archive.plain": "Reads plain" });
  await server.restart();
  saysOfTool = () => 500;
  expect(await listed()).toMatchObject({ "archive.plain": "Reads plain" });
});
