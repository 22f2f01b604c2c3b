// What is shown to a human is what the tool gets, to the character: here, one hop below, and at a device. Requests are
// texts, since what a program would write hides what a wire can carry.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { unsealed } from "../../packages/devices/src/framing/crc.ts";
import {
  type SimulatedStub,
  simulatedConfig,
  startSimulatedStub,
} from "../../packages/devices/src/testing/simulated-stub.ts";
import { decodeCbor } from "../../packages/devices/src/wire/cbor.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { startBelow, stopAll } from "../tree/registration/support/family.ts";
import { ask, type Message, type Place, revision } from "../tree/support/ask.ts";
import { newKey } from "./attacks/support/keys.ts";
import { signed } from "./attacks/support/scene.ts";
import { reasonOf } from "./attacks/support/stage.ts";
import { openVault, type Vault } from "./attacks/support/vault-config.ts";

const alice = newKey();
const anchors = [{ name: "alice", jwk: alice.jwk }];
const gates = { hold: 0, anchors, rules: [{ tools: "**", action: "ask" }] };
let vault: Vault;
let lamp: SimulatedStub;
let leaf: TestServer;
let root: TestServer;
let agent: Place;

beforeAll(async () => {
  vault = openVault();
  lamp = await startSimulatedStub();
  root = await startTestServer();
  const named = simulatedConfig("lamp").tools.map(({ name, ...tool }) => [name, tool]);
  const devices = {
    lamp: { line: `tcp://127.0.0.1:${lamp.port}`, profile: "b", tools: Object.fromEntries(named) },
  };
  leaf = await startBelow(root, "leaf", {
    heartbeat: 15_000,
    config: { mcpServers: vault.mcpServers("leaf"), gates, devices } as never,
  });
  agent = { url: `${root.url}/mcp`, token: await root.token({ sub: "agent", topics: [], tools: ["**"] }) };
  await vi.waitFor(
    async () => {
      const { message } = await ask(agent, "tools/list");
      const names = message.result.tools.map(({ name }: Message) => name);
      expect(names).toEqual(expect.arrayContaining(["leaf.vault.open", "leaf.lamp.add"]));
    },
    { timeout: 10_000 },
  );
});

afterAll(async () => {
  await stopAll([root, leaf]);
  await lamp[Symbol.asyncDispose]();
  vault.remove();
});

/** The call of a tool two hops away, with arguments that are a text. */
function call(name: string, argumentsText: string) {
  const meta = JSON.stringify({
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  });
  const params = `{"name":"${name}","arguments":${argumentsText},"_meta":${meta}}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
  return ask(agent, "tools/call", { name }, { body });
}

/** What its approver is shown, to the byte. */
async function shown(id: string): Promise<Message> {
  const { body } = await leaf.call("GET", `/admin/gates/${id}`, await leaf.adminToken());
  return body;
}

/** A tool with an output schema has it in `_meta`. */
const termsOf = ({ message }: { message: Message }): Message =>
  message.result.structuredContent ?? message.result._meta["x-mcpax-confirmation"];

const texts: readonly [string, string][] = [
  ["one", '{"box":"n1.","n":1}'],
  ["one with a point", '{"box":"n2.","n":1.0}'],
  ["one with an exponent", '{"box":"n3.","n":1e0}'],
  ["more than 2^53", '{"box":"n4.","n":9007199254740993}'],
  ["more digits than a double has", '{"box":"n5.","n":0.1000000000000000055511151231257827}'],
  ["larger than a double", '{"box":"n6.","n":1e400}'],
  ["minus zero", '{"box":"n7.","n":-0}'],
  ["keys that only look the same", '{"box":"k1.","\u00e9":1,"e\u0301":2}'],
  ["keys that a prototype has", '{"box":"k2.","__proto__":{"n":1},"constructor":2}'],
  ["a text that turns itself around", '{"box":"t1.\u202e","n":"\\u0000"}'],
];

test.each(texts)("[B-SIGN-1] two hops away the vault gets what was shown: %s", async (_, text) => {
  const box = /"box":"([a-z0-9]+\.)/.exec(text)?.[1] as string;
  const terms = termsOf(await call("leaf.vault.open", text));
  const { argumentsText, terms: listed } = await shown(terms.confirmation_id);
  expect(argumentsText).toBe(text);
  expect(vault.done(box)).toEqual([]);
  const { confirmation_id } = terms;
  await ask(agent, "mcpax/confirm", { confirmation_id, proof: signed(alice, listed) });
  expect(sentTo(box)).toEqual([argumentsText]);
});

/** What the vault was sent, as the line came to it. */
function sentTo(box: string): string[] {
  return vault.done(box).map((line) => /"name":"open","arguments":(.*)\}\}$/.exec(line)?.[1] ?? line);
}

test("[B-SIGN-1] of a key that stands twice the last is shown, signed and sent", async () => {
  const terms = termsOf(await call("leaf.vault.open", '{"box":"first.","b\\u006fx":"last."}'));
  const { argumentsText } = await shown(terms.confirmation_id);
  expect(argumentsText).toBe('{"box":"last."}');
  await ask(agent, "mcpax/confirm", { confirmation_id: terms.confirmation_id, proof: signed(alice, terms) });
  expect(sentTo("last.")).toEqual(['{"box":"last."}']);
  expect(vault.done("first.")).toEqual([]);
});

/** The arguments of every call that the device has heard, by position. */
function lampHeard(): unknown[] {
  return lamp.heard
    .map((packet) => decodeCbor(unsealed(packet) as Uint8Array) as Map<number, unknown>)
    .filter((message) => message.get(1) === 1)
    .map((message) => Object.fromEntries((message.get(3) as Map<number, unknown>) ?? []));
}

test("[B-SIGN-1] [AX-8.2-2] a device behind a gate gets the numbers that were signed, or nothing", async () => {
  const terms = termsOf(await call("leaf.lamp.add", '{"b":2e0,"a":1.0}'));
  expect((await shown(terms.confirmation_id)).argumentsText).toBe('{"b":2e0,"a":1.0}');
  expect(lampHeard()).toEqual([]);
  const confirm = (of: Message) =>
    ask(agent, "mcpax/confirm", { confirmation_id: of.confirmation_id, proof: signed(alice, of) });
  expect((await confirm(terms)).message.result.structuredContent).toEqual({ sum: 3 });
  expect(lampHeard()).toEqual([{ 0: 1, 1: 2 }]);
  const rounded = await call("leaf.lamp.add", '{"a":1.0000000000000000001,"b":2}');
  const answer = await confirm(termsOf(rounded));
  expect(answer.message.result.content[0].text).toContain("a has more digits than are kept");
  expect(lampHeard()).toHaveLength(1);
});

test("the control: a signature under other arguments counts for none of them", async () => {
  const one = (await call("leaf.vault.open", '{"box":"c1.","n":9007199254740993}')).message.result;
  const other = (await call("leaf.vault.open", '{"box":"c1.","n":9007199254740992}')).message.result;
  const { confirmation_id } = one.structuredContent;
  const proof = signed(alice, { ...other.structuredContent, confirmation_id });
  expect(reasonOf(await ask(agent, "mcpax/confirm", { confirmation_id, proof }))).toBe("bad_proof");
  expect(vault.done("c1.")).toEqual([]);
});
