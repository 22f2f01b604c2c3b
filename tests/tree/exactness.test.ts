// What passes the tree is what was sent: numbers beyond JavaScript's, unknown members, any text, `_meta` both ways. Each
// combination of eras and transports is compared text by text with what a raw server got and gave.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { ask, openSession, type Place, revision } from "./support/ask.ts";
import { type HttpBackends, startHttpBackends, stdioBackend } from "./support/backends.ts";
import { odd, oddError, oddMeta, oddResult, oddTool } from "./support/odd-json.ts";

const dir = mkdtempSync(join(tmpdir(), "mcpx-exact-"));
const eras = ["legacy", "modern"] as const;
type Era = (typeof eras)[number];
const servers = eras.flatMap((era) => (["stdio", "http"] as const).map((transport) => `${era}-${transport}`));
const backends: HttpBackends[] = [];
let server: TestServer;
let place: Place;

beforeAll(async () => {
  const mcpServers: Record<string, object> = {};
  for (const era of eras) {
    const backend = await startHttpBackends({ era, record: join(dir, `${era}-http`) });
    backends.push(backend);
    mcpServers[`${era}-http`] = { url: backend.urlOf("exact") };
    mcpServers[`${era}-stdio`] = stdioBackend({ era, fault: "exact", record: join(dir, `${era}-stdio`) });
  }
  server = await startTestServer({ config: { mcpServers } });
  place = {
    url: `${server.url}/mcp`,
    token: await server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
});

afterAll(async () => {
  await server.stop();
  for (const { stop } of backends) await stop();
  rmSync(dir, { recursive: true });
});

/** A text as JSON with the members in the order in which JavaScript keeps them: keys like numbers first. */
function ordered(text: string): string {
  return JSON.stringify(sorted(parse(text)));
}

function parse(text: string): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const revive = (_key: string, value: unknown, { source }: { source?: string }) =>
    typeof value === "number" && source !== undefined ? rawJSON(source) : value;
  return JSON.parse(text, revive as never);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean };
  if (typeof value !== "object" || value === null || isRawJSON(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inside]) => [key, sorted(inside)]));
}

/** The params of the last request of a method the raw server got, as text. */
function gotBy(name: string, method: string): string {
  const lines = readFileSync(join(dir, name), "utf8").trim().split("\n");
  const texts = lines.map((line) => JSON.parse(line)).map(({ line, body }) => line ?? body ?? "");
  const last = texts.findLast((text: string) => text.includes(`"method":"${method}"`)) ?? "";
  return /"params":(.*)\}$/s.exec(last)?.[1] ?? "";
}

/** One request in the era of a client; its result as text. */
async function request(era: Era, method: string, params: string, meta: string): Promise<string> {
  const body = (id: number, more: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params},"_meta":{${more}${meta}}}}`;
  const named = /"(?:name|uri)":"([^"]+)"/.exec(params)?.[1] ?? "";
  const hop = `"io.modelcontextprotocol/protocolVersion":"${revision}","io.modelcontextprotocol/clientCapabilities":{},`;
  const heard =
    era === "modern"
      ? await ask(place, method, { name: named }, { body: body(7, hop) })
      : await (await openSession(place)).send(body(7, ""));
  const text = heard.texts.at(-1) ?? "";
  const result = /^\{"jsonrpc":"2.0","id":7,"result":(.*)\}$/s.exec(text)?.[1];
  if (result === undefined) throw new Error(`no result: ${text}`);
  return result;
}

/** What belongs to one hop: ours to take away and to add. */
function withoutHop(text: string): string {
  const value = parse(text) as Record<string, unknown>;
  const meta = value._meta as Record<string, unknown> | undefined;
  for (const key of Object.keys(meta ?? {})) {
    if (key.startsWith("io.modelcontextprotocol/") || key.startsWith("x-mcpax-")) delete meta?.[key];
  }
  delete value.resultType;
  if (Object.keys(meta ?? {}).length === 0) delete value._meta;
  return JSON.stringify(sorted(value));
}

describe.for(eras.flatMap((client) => servers.map((name) => ({ client, name }))))(
  "[AX-7.2-3] between a $client client and the server $name",
  ({ client, name }: { client: Era; name: string }) => {
    test("a call arrives as it was written, but for its name", async () => {
      await request(
        client,
        "tools/call",
        `"name":"${name}.echo","arguments":{${odd}},"example.org/more":1.0`,
        oddMeta,
      );
      const expected = `{"name":"echo","arguments":{${odd}},"example.org/more":1.0,"_meta":{${oddMeta}}}`;
      expect(withoutHop(gotBy(name, "tools/call"))).toBe(withoutHop(expected));
      // Byte by byte where the order of members is ours to keep.
      const [numbers = "", text = ""] = odd.split(/,(?="text")|,(?="escaped")/);
      const got = gotBy(name, "tools/call").replaceAll("\\u2028", "\u2028").replaceAll("\\u2029", "\u2029");
      expect(got).toContain(numbers);
      expect(got).toContain(text);
    });

    test("a result comes back as it was written", async () => {
      const result = await request(client, "tools/call", `"name":"${name}.odd","arguments":{}`, oddMeta);
      expect(withoutHop(result)).toBe(withoutHop(oddResult));
    });

    test("an error comes back with its code, its words and its data", async () => {
      const failing = request(client, "tools/call", `"name":"${name}.fail","arguments":{}`, oddMeta);
      const text = await failing.catch((error: Error) => error.message);
      const { error } = parse(text.replace("no result: ", "")) as { error: unknown };
      expect(JSON.stringify(sorted(error))).toBe(ordered(oddError));
    });

    test("a tool is listed with every member it has", async () => {
      const listed = await request(client, "tools/list", '"example.org/more":1.0', oddMeta);
      const { tools } = parse(listed) as { tools: { name: string }[] };
      const tool = tools.find((one) => one.name === `${name}.odd`);
      expect(withoutHop(JSON.stringify({ ...tool, name: "odd" }))).toBe(withoutHop(oddTool));
    });

    test("resources and prompts pass the same way, but for their names", async () => {
      const uri = `mcpx://${name}/raw://one`;
      const read = await request(
        client,
        "resources/read",
        `"uri":"${uri}","example.org/more":{${odd}}`,
        oddMeta,
      );
      expect(withoutHop(gotBy(name, "resources/read"))).toBe(
        withoutHop(`{"uri":"raw://one","example.org/more":{${odd}},"_meta":{${oddMeta}}}`),
      );
      expect(withoutHop(read)).toContain(`"text":"One","uri":"${uri}"`);
      await request(client, "prompts/get", `"name":"${name}.greet","arguments":{"a":"\u2028"}`, oddMeta);
      expect(withoutHop(gotBy(name, "prompts/get"))).toBe(
        withoutHop(`{"name":"greet","arguments":{"a":"\u2028"},"_meta":{${oddMeta}}}`),
      );
    });
  },
);

test("the comparison sees what JavaScript would have done to it", () => {
  expect(JSON.stringify(JSON.parse(`{${odd}}`))).not.toContain("9007199254740993");
  expect(withoutHop(`{"a":1.0}`)).not.toBe(withoutHop(`{"a":1}`));
  expect(withoutHop(`{"a":1}`)).not.toBe(withoutHop(`{"a":1,"b":null}`));
});
