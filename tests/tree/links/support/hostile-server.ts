// A stdio server that does what no server should, by the name of the tool that is called. It speaks lines of JSON and
// nothing but node, so that what it gets is what was sent.
//   --era legacy|modern   --discover silent|exit|error|nonsense|older|late   --starts FILE: a line for each start
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

/** biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire */
type Message = any;

const { values } = parseArgs({
  options: {
    era: { type: "string", default: "legacy" },
    discover: { type: "string", default: "error" },
    starts: { type: "string" },
  },
});
const received: Message[] = [];
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
};
const serverInfo = { name: "hostile", version: "1" };

if (values.starts !== undefined) appendFileSync(values.starts, `${process.pid}\n`);
const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  const message = JSON.parse(line);
  received.push(message);
  handle(message);
});
input.on("close", () => process.exit(0));

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

function send(message: object): void {
  write(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

function handle({ id, method, params }: Message): void {
  if (method === "server/discover") discover(id);
  else if (method === "initialize") {
    if (values.era === "modern") send({ id, error: { code: -32601, message: "only 2026-07-28" } });
    else
      send({
        id,
        result: { protocolVersion: "2025-06-18", capabilities, serverInfo, instructions: "Be kind" },
      });
  } else if (method === "subscriptions/listen") {
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    send({
      method: "notifications/subscriptions/acknowledged",
      params: { _meta, notifications: params.notifications },
    });
  } else if (method === "tools/call") call(id, params.name, params);
  else if (id !== undefined && method !== undefined) send({ id, result: {} });
}

function discover(id: unknown): void {
  const isLate = values.discover === "late" && received.length === 1;
  if (isLate) return;
  if (values.era === "modern") {
    const _meta = { "io.modelcontextprotocol/serverInfo": serverInfo };
    const supportedVersions = ["2026-07-28"];
    send({
      id,
      result: { resultType: "complete", supportedVersions, capabilities, _meta, instructions: "Be kind" },
    });
  } else if (values.discover === "exit") process.exit(1);
  else if (values.discover === "error") send({ id, error: { code: -32602, message: "not initialized" } });
  else if (values.discover === "nonsense") send({ id, result: { hello: "world" } });
  else if (values.discover === "older") {
    send({ id, error: { code: -32022, message: "no", data: { supported: ["2025-11-25"] } } });
  }
}

function call(id: unknown, name: string, params: Message): void {
  const answer = (value: unknown) =>
    send({ id, result: { content: [{ type: "text", text: JSON.stringify(value) }] } });
  const note = (method: string, more: object) => send({ method, params: more });
  const progressToken = params._meta?.progressToken;
  if (name === "received") answer(received);
  else if (name === "env") answer({ env: process.env, cwd: process.cwd(), pid: process.pid });
  else if (name === "twice") {
    answer(1);
    answer(2);
  } else if (name === "wrong-id") {
    send({ id: 4711, result: {} });
    send({ id: null, error: { code: 1, message: "whose?" } });
    answer("right");
  } else if (name === "nonsense") {
    write("42");
    write("null");
    write('{"jsonrpc":"2.0"}');
    write('{"jsonrpc":"2.0","method":7}');
    write('{"jsonrpc":"2.0","method":"notifications/progress","params":[1]}');
    write('{"jsonrpc":"2.0","method":"__proto__","params":{"__proto__":{"polluted":true}}}');
    write("Listening on port 3000 …");
    answer("survived");
  } else if (name === "no-result") send({ id });
  else if (name === "both") send({ id, result: {}, error: { code: 1, message: "x" } });
  else if (name === "string-result") send({ id, result: "text" });
  else if (name === "error") send({ id, error: { code: -32000, message: "own words", data: { a: [1] } } });
  else if (name === "die") process.exit(7);
  else if (name === "gigabyte") gigabyte(id, params.arguments.megabytes, () => answer("after"));
  else if (name === "flood") {
    for (let n = 0; n < 20_000; n += 1) note("notifications/tools/list_changed", {});
    answer("flooded");
  } else if (name === "chatter") {
    for (let n = 0; n < 20_000; n += 1) note("notifications/progress", { progressToken, progress: n });
    answer("chattered");
  } else if (name === "babble") {
    process.stderr.write("babble\n".repeat(20_000));
    setTimeout(() => answer("babbled"), 100);
  } else if (name === "progress") {
    note("notifications/progress", { progressToken, progress: 1 });
    note("notifications/progress", { progressToken: 4711, progress: 2 });
    note("notifications/message", { level: "info", data: "working" });
    answer({ progressToken });
  } else if (name === "ask") {
    send({ id: "q1", method: "elicitation/create", params: { message: params.arguments.message } });
    input.once("line", (line) => answer(JSON.parse(line)));
  } else if (name === "ask-later") {
    answer("soon");
    setTimeout(() => send({ id: "q2", method: "roots/list" }), 50);
  } else if (name === "ask-odd") {
    send({ id: "p", method: "ping" });
    send({ id: "o", method: "odd/question" });
    setTimeout(() => answer(received.filter((message) => message.method === undefined)), 100);
  } else if (name === "deaf") {
    process.stdin.pause();
    answer("not listening");
  } else if (name !== "hang") answer(name);
}

/** One line of so many megabytes, written as fast as it is read. */
function gigabyte(id: unknown, megabytes: number, done: () => void): void {
  const piece = Buffer.alloc(1_048_576, "x");
  let left = megabytes;
  const more = () => {
    while (left > 0) {
      left -= 1;
      if (!process.stdout.write(piece)) {
        process.stdout.once("drain", more);
        return;
      }
    }
    process.stdout.write(`"},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n`);
    done();
  };
  process.stdout.write('{"result":{"text":"');
  more();
}
