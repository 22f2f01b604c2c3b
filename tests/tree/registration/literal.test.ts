// The registration that section 6.1 of the MCP-AX draft prints, sent as it is printed, by a subserver whose tools say
// nothing of their danger; and what becomes of it with one of its fields missing, given twice or of another type.
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { ask, callTool, type Place } from "../support/ask.ts";
import {
  dangerous,
  type Message,
  type RawOptions,
  type RawRegistrant,
  rawRegistrant,
  toolOf,
} from "./support/raw-registrant.ts";

const printed = `{
  "jsonrpc": "2.0",
  "method": "mcpax/register",
  "id": 1,
  "params": {
    "subserver_id": "550e8400-e29b-41d4-a716-446655440000",
    "segment": "stm32h7",
    "authority": "dns:edge01.factory.example.com",
    "capabilities": {
      "tools": true,
      "resources": false,
      "notifications": true
    },
    "heartbeat_interval_ms": 5000,
    "transport_class": "uart_cbor",
    "version": "2026-05-01"
  }
}`;

let server: TestServer;
let place: Place;
const open: RawRegistrant[] = [];

beforeAll(async () => {
  server = await startTestServer({ config: { gates: { hold: 0 }, degraded: { grace: 0 } } });
  place = {
    url: `${server.url}/mcp`,
    token: await server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
});

afterAll(async () => {
  for (const one of open) one.cut();
  await server.stop();
});

/** With a token that names the segment, and nothing else. */
async function come(options: RawOptions = {}): Promise<RawRegistrant> {
  const token = await server.token({ sub: "edge", topics: [], segment: "stm32h7" });
  const registrant = await rawRegistrant(server.url, token, options);
  open.push(registrant);
  return registrant;
}

/** What the text is answered with; questions that come before are not meant. */
async function said(registrant: RawRegistrant, text: string): Promise<Message> {
  registrant.socket.send(text);
  for (;;) {
    const [data] = await once(registrant.socket, "message");
    const message = JSON.parse(String(data));
    if (message.method === undefined) return message;
  }
}

const named = async () => {
  const { message } = await ask(place, "tools/list");
  const names: string[] = message.result.tools.map(({ name }: Message) => name);
  return names.filter((name) => name.startsWith("stm32h7."));
};

const plain = (name: string, annotations?: object) => ({
  name,
  inputSchema: { type: "object" },
  ...(annotations && { annotations }),
});

test("[AX-6.1-1] [AX-6.2-1] [AX-10.2-2] it is taken, and tools that say nothing are listed and stop at a gate", async () => {
  const tools = [
    plain("dma2d_status"),
    plain("titled", { title: "Only a title" }),
    plain("look", { readOnlyHint: true }),
    plain("erase", { readOnlyHint: false }),
    toolOf("wipe", dangerous),
    toolOf("reboot", { ...dangerous, auth_scope: "admin" }),
  ];
  const registrant = await come({ tools });
  const answer = await said(registrant, printed);
  expect(answer).toMatchObject({
    id: 1,
    result: { status: "registered", assigned_segment: "stm32h7", heartbeat_deadline_ms: 15_000 },
  });
  // Those that say that they write are still not for a token without `scope`. [AX-10.2-1]
  await expect.poll(named).toEqual(["stm32h7.dma2d_status", "stm32h7.look", "stm32h7.titled"]);
  // Side by side: each is held for a while, and the registrant has no heartbeat that would keep it here for long.
  const stopped = await Promise.all(
    ["stm32h7.dma2d_status", "stm32h7.titled"].map((name) => callTool(place, name)),
  );
  for (const { message } of stopped) {
    expect(message.result.structuredContent.status).toBe("confirmation_required");
  }
  expect(registrant.asked.filter(({ method }) => method === "tools/call")).toEqual([]);
  // Control: what says that it only reads is called at once.
  expect((await callTool(place, "stm32h7.look")).message.result.content).toHaveLength(1);
  registrant.cut();
  await expect.poll(named).toEqual([]);
});

const { params } = JSON.parse(printed);
const required = Object.keys(params).filter((field) => field !== "authority");
const texts: [title: string, field: string, text: string][] = [
  ...required.map((field): [string, string, string] => {
    const { [field]: _, ...others } = params;
    const text = JSON.stringify({ ...JSON.parse(printed), params: others });
    return [`${field} missing`, `params.${field} must be`, text];
  }),
  ...Object.keys(params).map((field): [string, string, string] => {
    const first = `"params": {\n    "${field}": ${JSON.stringify(params[field])},`;
    return [`${field} twice`, `params.${field} is given twice`, printed.replace('"params": {', first)];
  }),
  ["tools twice", "params.capabilities.tools is given twice", printed.replace('"tools": true,', '"tools": false, "tools": true,')],
  ["params twice", "params is given twice", printed.replace('"id": 1,', '"id": 1, "params": {},')],
  ...Object.keys(params).flatMap((field) =>
    [null, [], 7.5e300, "", true].map((value): [string, string, string] => {
      const text = JSON.stringify({ ...JSON.parse(printed), params: { ...params, [field]: value } });
      return [`${field} as ${JSON.stringify(value)}`, `params.${field} must be`, text];
    }),
  ),
]; // biome-ignore format: a table

/** A number that is too large is brought within bounds. [AX-6.3-2] */
const fine = ["heartbeat_interval_ms as 7.5e+300"];

test.for(texts.filter(([title]) => !fine.includes(title)))(
  "[AX-6.1-2] %s is named, and nothing of it stays",
  async ([, detail, text]) => {
    const registrant = await come();
    const { id, error } = await said(registrant, text);
    expect(id).toBe(1);
    expect(error).toMatchObject({ code: -32602, data: { detail: expect.stringContaining(detail) } });
    const { message } = await callTool(place, "mcpax.status");
    expect(message.result.structuredContent.servers.map(({ name }: Message) => name)).toEqual(["mcpax"]);
  },
);

test("control: after all of that the printed one is taken", async () => {
  const registrant = await come({ tools: [plain("dma2d_status")] });
  expect((await said(registrant, printed)).result.status).toBe("registered");
  await expect.poll(named).toEqual(["stm32h7.dma2d_status"]);
});
