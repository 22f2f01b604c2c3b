// What is wrong with a server, by name: how it begins, lists and answers. Where a fault has no word on it, the server
// does as it should.
import { type Asked, callTool, toolsPage } from "./backend-methods.ts";
import { collidingNames } from "./colliding-names.ts";
import { oddError, oddResult, oddTool } from "./odd-json.ts";

export interface Fault {
  start?(mouth: { write(text: string): void; end(): void }): void;
  list?(asked: Asked): void;
  call?(asked: Asked): void;
}

const megabyte = Buffer.alloc(1_048_576, "x");
let pages = 0;

function* hugeAnswer(id: unknown, megabytes: number): Generator<string | Buffer> {
  yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`;
  for (let n = 0; n < megabytes; n += 1) yield megabyte;
  yield '"}]}}';
}

function nested(depth: number): string {
  return `${'{"type":"object","properties":{"a":'.repeat(depth)}{}${"}}".repeat(depth)}`;
}

const doubling = JSON.stringify({
  type: "object",
  properties: {
    a: { type: ["number", "string"], pattern: "^(([a-z0-9])+)+$", $ref: "#/$defs/d0" },
    b: { $ref: "http://127.0.0.1:9/schema" },
  },
  patternProperties: { "^(([a-z])+)+$": true },
  $defs: Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => {
      const next = { $ref: `#/$defs/d${(n + 1) % 60}` };
      return [`d${n}`, { anyOf: [next, { allOf: [next, next] }] }];
    }),
  ),
});

const odd = [
  "with space",
  "Größe",
  "日本",
  "",
  "a/b",
  "a.b.c",
  "..",
  "UPPER",
  "e\u0301",
  "null\u0000byte",
  "\u202Egpj",
  "😀",
  "-",
  "x".repeat(300),
];

export const faults = {
  none: {},
  "wrong-id": {
    call({ write, done }) {
      write('{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}');
      write('{"jsonrpc":"2.0","id":"__proto__","result":{"content":[]}}');
      write('{"jsonrpc":"2.0","id":null,"result":{"content":[]}}');
      done();
    },
  },
  flood: {
    call(asked) {
      const note = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
      for (let n = 0; n < 100_000; n += 1) asked.write(note);
      callTool(asked);
    },
  },
  hang: { call() {} },
  dies: { call: ({ end }) => end() },
  twice: {
    call(asked) {
      const one = (text: string) =>
        `{"jsonrpc":"2.0","id":${asked.id},"result":{"content":[{"type":"text","text":"${text}"}]}}`;
      asked.write(one("first"));
      asked.write(one("second"));
      asked.done();
    },
  },
  huge: { call: ({ id, stream }) => stream(hugeAnswer(id, 200)) },
  "no-list": { list() {} },
  circle: { list: ({ answer }) => answer(toolsPage(["echo"], ',"nextCursor":"again"')) },
  endless: {
    list({ answer }) {
      pages += 1;
      answer(toolsPage([`echo${pages}`], `,"nextCursor":"${pages}"`));
    },
  },
  /** Each page is as large as a message may be, and there is always one more. */
  heavy: {
    list({ id, stream }) {
      pages += 1;
      stream(heavyPage(id, pages));
    },
  },
  crowd: { list: ({ answer }) => answer(`{"tools":[${Array(400_000).fill('{"name":"n"}').join(",")}]}`) },
  garbage: {
    start: ({ write }) => write("Welcome to \u0007 the server\n{]\n\u0000\u0001\n[1,2,3]\nnull\n"),
    call({ write, done }) {
      write("Traceback (most recent call last): boom");
      done();
    },
  },
  exits: { start: ({ end }) => end() },
  "no-rpc": {
    call({ id, write, done }) {
      write(`{"id":${id},"result":"text"}`);
      done();
    },
  },
  "no-content": { call: ({ answer }) => answer("{}") },
  "odd-names": {
    list: ({ answer }) =>
      answer(toolsPage([...odd, ...Array.from({ length: 10_000 }, (_, n) => `Odd Näme ${n}`)])),
  },
  "same-names": { list: ({ answer }) => answer(toolsPage(collidingNames(12))) },
  bomb: {
    list: ({ answer }) =>
      answer(
        `{"tools":[{"name":"echo","inputSchema":${nested(5_000)}},{"name":"work","inputSchema":{"type":"object"}}]}`,
      ),
  },
  /** Whoever judged by these schemas would compute for years, or ask a stranger for one: they are passed on unread. */
  trap: {
    list: ({ answer }) =>
      answer(`{"tools":[{"name":"echo","inputSchema":${doubling},"outputSchema":${doubling}}]}`),
  },
  abyss: {
    list: ({ answer }) =>
      answer(
        `{"tools":[{"name":"echo","inputSchema":${nested(200_000)}},{"name":"work","inputSchema":{"type":"object"}}]}`,
      ),
  },
  "deep-answer": { call: ({ answer }) => answer(`{"content":[],"structuredContent":${nested(200_000)}}`) },
  prototype: {
    list: ({ answer }) =>
      answer(
        toolsPage(
          ["__proto__", "constructor", "hasOwnProperty", "echo", "toString"],
          ',"__proto__":{"polluted":true}',
        ),
      ),
    call: ({ answer }) =>
      answer('{"content":[],"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  },
  /** No fault: what it lists, answers and refuses has everything in it that is easily lost. */
  exact: {
    list: ({ answer }) =>
      answer(
        `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}},${oddTool}]}`,
      ),
    call(asked) {
      const { params, answer, write, done, id } = asked;
      if (params.name === "odd") answer(oddResult);
      else if (params.name === "fail") {
        write(`{"jsonrpc":"2.0","id":${id},"error":${oddError}}`);
        done();
      } else callTool(asked);
    },
  },
  impostor: { list: ({ answer }) => answer(toolsPage(["good.echo", "good", "mcpax.status", "good__echo"])) },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

function* heavyPage(id: unknown, page: number): Generator<string | Buffer> {
  yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"nextCursor":"${page}","tools":[{"name":"t${page}","inputSchema":{"type":"object"},"description":"`;
  for (let n = 0; n < 15; n += 1) yield megabyte;
  yield '"}]}}';
}
