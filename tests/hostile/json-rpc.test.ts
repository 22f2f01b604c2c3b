// JSON-RPC messages that are not quite that, and answers by those who were not asked. A case is the text of a payload.
import { afterAll, describe, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { canary, Oracle } from "./oracle.ts";

const oracle = await Oracle.start();
afterAll(() => oracle.stop());

/** Sends an `mcp` envelope with exactly this payload. Returns its id. */
function send(client: TestClient, payload: string, more: Record<string, unknown> = {}): string {
  const id = crypto.randomUUID();
  const head = JSON.stringify({ protocol: "mcpx/v0.1", id, kind: "mcp", ...more });
  client.ws.send(`${head.slice(0, -1)},"payload":${payload}}`);
  return id;
}

const call = (id: string, more = "") =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${canary}"}${more}}`;

interface PayloadCase {
  title: string;
  payload: string;
  to?: string[];
  correlation_id?: string;
  refused: string;
}

async function attack({ payload, to = ["listener"], correlation_id, refused }: PayloadCase): Promise<Seen> {
  const client = await oracle.sameAttacker();
  const answer = await client.answer(send(client, payload, { to, correlation_id }));
  expect(answer.payload.error?.data.reason ?? answer.payload.reason).toBe(refused);
  await oracle.check({ connection: client, denials: [refused] });
  return answer;
}

const shapes: [title: string, payload: string, refused?: string][] = [
  ["an empty object", "{}"],
  ["no jsonrpc", '{"id":1,"method":"m"}'],
  ["jsonrpc 1.0", '{"jsonrpc":"1.0","id":1,"method":"m"}'],
  ["jsonrpc as a number", '{"jsonrpc":2.0,"id":1,"method":"m"}'],
  ["jsonrpc with a space", '{"jsonrpc":"2.0 ","id":1,"method":"m"}'],
  ["a batch", `[${call("1")},${call("2")}]`, "bad_field"],
  ["an empty batch", "[]", "bad_field"],
  ["a batch under a number", `{"0":${call("1")},"length":1}`],
  ["method and result", call("1", ',"result":{}')],
  ["method and error", call("1", ',"error":{"code":1,"message":"x"}')],
  ["result and error", '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
  ["neither method nor result", '{"jsonrpc":"2.0","id":1}'],
  ["an empty method", '{"jsonrpc":"2.0","id":1,"method":""}'],
  ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":7}'],
  ["a method that is an object", '{"jsonrpc":"2.0","id":1,"method":{"toString":"m"}}'],
  ["positional params", '{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}'],
  ["params null", '{"jsonrpc":"2.0","id":1,"method":"m","params":null}'],
  ["an id of null", call("null")],
  ["an id that is true", call("true")],
  ["an id that is an object", call('{"a":1}')],
  ["an id that is an array", call("[1]")],
  ["a result that is null", '{"jsonrpc":"2.0","id":1,"result":null}'],
  ["a result that is a string", '{"jsonrpc":"2.0","id":1,"result":"x"}'],
  ["a result without id", '{"jsonrpc":"2.0","result":{}}'],
  ["an error that is a string", '{"jsonrpc":"2.0","id":1,"error":"x"}'],
  ["an error with a code that is no integer", '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}'],
  ["an error without message", '{"jsonrpc":"2.0","id":1,"error":{"code":1}}'],
  ["Method beside result", '{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call"}'],
  ["METHOD and ID", '{"jsonrpc":"2.0","ID":1,"METHOD":"tools/call"}'],
  ["ID beside a notification", '{"jsonrpc":"2.0","method":"m","ID":1}'],
  ["a re\u017fult", '{"jsonrpc":"2.0","id":1,"method":"m","re\u017fult":{}}'],
  ["method twice", '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', "duplicate_key"],
  ["method twice, once in escapes", '{"jsonrpc":"2.0","id":1,"method":"a","m\\u0065thod":"b"}', "duplicate_key"],
  ["id twice", '{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}', "duplicate_key"],
  ["params twice", '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{"x":1}}', "duplicate_key"],
  ["a prototype with a method", '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"tools/call"}}'],
]; // biome-ignore format: a table

test.for(shapes.map(([title, payload, refused = "bad_json_rpc"]) => ({ title, payload, refused })))(
  "[X0-4.1-1] it is no JSON-RPC message of MCP: $title",
  async (one) => void (await attack(one)),
);

const targets: [title: string, to: string[] | undefined][] = [
  ["nobody", []],
  ["nobody, by leaving it out", undefined],
  ["two participants", ["listener", "speaker"]],
  ["64 participants", Array.from({ length: 64 }, (_, i) => `p${i}`)],
];

test.for(targets.map(([title, to]) => ({ title, to })))(
  "[X0-4.1-2] a request names exactly one participant, not $title",
  async ({ to }) => {
    const client = await oracle.sameAttacker();
    const { payload, kind } = await client.answer(send(client, call('"7"'), { to }));
    expect(kind).toBe("mcp");
    expect(payload).toMatchObject({ id: "7", error: { code: -32600, data: { reason: "request_needs_one_target" } } });
    await oracle.check({ connection: client, denials: ["request_needs_one_target"] });
  },
); // biome-ignore format: one call

const ids = ["1", '"1"', "1.0", "-0", "1e400", "9007199254740993", '""', '"\\u0031"', '"null"', "0.1e1"];
const longId = JSON.stringify("x".repeat(100_000));

describe("[X0-4.1-5] an id is never coerced:", () => {
  test.for([...ids, longId].map((id) => ({ id, title: id.slice(0, 30) })))(
    "$title comes through as it is written, and comes back so in a refusal",
    async ({ id }) => {
      const client = await oracle.attacker();
      const target = await oracle.attacker();
      const passed = send(client, call(id), { to: [target.id] });
      await client.ack(passed);
      await target.find((message) => message.id === passed);
      expect(target.texts.some((text) => text.includes(`"payload":${call(id)}`))).toBe(true);
      await client.answer(send(client, call(id), { to: [] }));
      expect(client.texts.at(-1)).toContain(`"payload":{"jsonrpc":"2.0","id":${id},"error":`);
      await oracle.check({ connection: client, denials: ["request_needs_one_target"], published: 1 });
      await Promise.all([client.leave(), target.leave()]);
    },
  );
});

describe("[X0-4-5] [X0-4.1-3] answers nobody asked them for:", () => {
  const result = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';

  /** An honest request from one to the other, and an attacker beside them. */
  async function scene() {
    const asker = await enter(oracle.server, "asker", { topic: oracle.topic });
    const robot = await enter(oracle.server, "robot", { topic: oracle.topic });
    const attacker = await oracle.attacker();
    const request = send(asker, call("1"), { to: ["robot"] });
    await asker.ack(request);
    const leave = () => Promise.all([asker.leave(), robot.leave(), attacker.leave()]);
    return { asker, robot, attacker, request, leave };
  }

  test("without correlation_id it is refused, also by the one who was asked", async () => {
    const { robot, leave } = await scene();
    expect(await robot.outcome(send(robot, result, { to: ["asker"] }))).toBe("response_needs_correlation");
    await oracle.check({ connection: robot, denials: ["response_needs_correlation"], published: 1 });
    await leave();
  });

  const forgeries: [title: string, (request: string) => [payload: string, more: Record<string, unknown>]][] = [
    ["a result", (request) => [result, { to: ["asker"], correlation_id: request }]],
    ["an error", (request) => ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}', { to: ["asker"], correlation_id: request }]],
    ["an error without id", (request) => ['{"jsonrpc":"2.0","error":{"code":-1,"message":"x"}}', { to: ["asker"], correlation_id: request }]],
    ["by the other spelling", (request) => [result, { to: ["asker"], correlationId: request }]],
    ["to everybody", (request) => [result, { correlation_id: request }]],
    ["with another payload id", (request) => [result.replace("1", "2"), { to: ["asker"], correlation_id: request }]],
    ["naming the robot in to", (request) => [result, { to: ["asker", "robot"], correlation_id: request }]],
  ]; // biome-ignore format: a table

  test.for(forgeries)("a third party's forged answer reaches nobody: %s", async ([, forge]) => {
    const { attacker, request, leave } = await scene();
    expect(await attacker.outcome(send(attacker, ...forge(request)))).toBe("not_the_addressee");
    await oracle.check({ connection: attacker, denials: ["not_the_addressee"], published: 1 });
    await leave();
  });

  test("the asker cannot answer itself", async () => {
    const { asker, request, leave } = await scene();
    expect(await asker.outcome(send(asker, result, { to: ["asker"], correlation_id: request }))).toBe(
      "not_the_addressee",
    );
    await oracle.check({ connection: asker, denials: ["not_the_addressee"], published: 1 });
    await leave();
  });

  const noRequests: [title: string, payload: string, more: Record<string, unknown>][] = [
    ["a notification", '{"jsonrpc":"2.0","method":"notifications/x"}', {}],
    ["a chat", '{"text":"hi"}', { kind: "chat" }],
    ["a proposal", '{"method":"tools/call","params":{}}', { kind: "mcp/proposal" }],
  ];

  test.for(noRequests)("a response to %s is refused, whomever it was addressed to", async ([, payload, more]) => {
    const { asker, robot, leave } = await scene();
    const id = send(asker, payload, { to: ["robot"], ...more });
    await asker.ack(id);
    expect(await robot.outcome(send(robot, result, { correlation_id: id }))).toBe("not_the_addressee");
    await oracle.check({ connection: robot, denials: ["not_the_addressee"], published: 2 });
    await leave();
  }); // biome-ignore format: one call

  test("a response to a response is refused", async () => {
    const { robot, asker, request, leave } = await scene();
    const answer = send(robot, result, { to: ["asker"], correlation_id: request });
    await robot.ack(answer);
    expect(await asker.outcome(send(asker, result, { correlation_id: answer }))).toBe("not_the_addressee");
    await oracle.check({ connection: asker, denials: ["not_the_addressee"], published: 2 });
    await leave();
  });

  test("the one who was asked may answer, and its id is not looked into", async () => {
    const { robot, request, leave } = await scene();
    await robot.ack(send(robot, result.replace("1", '"1"'), { to: ["asker"], correlation_id: request }));
    await oracle.check({ connection: robot, published: 2 });
    await leave();
  });
});

describe("[PL-7-2] a method spelled into the kind is the payload's own:", () => {
  const spellings: [kind: string, payload: string, refused: string][] = [
    ["mcp/request:tools/list", call("1"), "bad_json_rpc"],
    ["mcp.request.tools/list", call("1"), "bad_json_rpc"],
    ["mcp/request:tools/call", '{"jsonrpc":"2.0","method":"tools/call"}', "bad_json_rpc"],
    ["mcp/request:tools/call", '{"jsonrpc":"2.0","id":1,"result":{}}', "bad_json_rpc"],
    ["mcp/proposal:tools/call", '{"method":"tools/list","params":{}}', "bad_proposal"],
    ["mcp.proposal.tools/call", call("1"), "bad_proposal"],
    ["mcp/request:", call("1"), "unknown_kind"],
    ["mcp/request", '{"jsonrpc":"2.0","method":"tools/call"}', "bad_json_rpc"],
    ["mcp/request", '{"jsonrpc":"2.0","id":1,"result":{}}', "bad_json_rpc"],
    ["mcp/request: tools/call", call("1"), "unknown_kind"],
    [`mcp/request:${"x".repeat(129)}`, call("1"), "unknown_kind"],
    [`mcp/request:tools/call:${"x".repeat(1_000)}`, call("1"), "unknown_kind"],
  ];

  test.for(
    spellings.map(([kind, payload, refused]) => ({ kind, payload, refused, title: kind.slice(0, 40) })),
  )("$title: $refused", async ({ kind, payload, refused }) => {
    const client = await oracle.sameAttacker();
    expect(await client.outcome(send(client, payload, { kind, to: ["listener"] }))).toBe(refused);
    await oracle.check({ connection: client, denials: [refused] });
  });
});

test("control: the oracle sees a fault nobody caught", async () => {
  oracle.faults.push(new Error("planted"));
  await expect(oracle.check({})).rejects.toThrow("something was thrown");
  oracle.faults.length = 0;
  await oracle.check({});
});
