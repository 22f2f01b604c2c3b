// The protocol is not what our own client makes of it: another one, in another language, gets along too.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { Seen } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const topic = "kitchen";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

function startClient(task: object): {
  child: ChildProcess;
  next: (step: string) => Promise<Seen>;
  errors: () => string;
} {
  const child = spawn("/usr/bin/python3", [`${import.meta.dirname}/client.py`]);
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify(task)}\n`);
  return {
    child,
    errors: () => errors,
    async next(step) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the client ended before "${step}":\n${errors}`);
      const report = JSON.parse(value);
      expect(report.step).toBe(step);
      return report;
    },
  };
}

test("[X0-5.2-3] [X1-9.1-1] [B-RESUME-1] a client in Python joins, chats, is refused, proposes, loses its connection and resumes", async () => {
  const alice = await enter(server, "alice", { topic });
  const listener = await enter(server, "listener", { topic, query: { seq: "1" } });
  const oven = await enter(server, "oven", { topic, kind: "robot" });
  const token = await server.token({ sub: "snake", topics: [topic], level: "restricted", kind: "agent" });
  const { child, next, errors } = startClient({ url: server.url.replace("http", "ws"), topic, token });
  const exited = new Promise((resolve) => child.once("exit", resolve));

  const { welcome } = await next("joined");
  expect(welcome).toMatchObject({ event: "welcome", participant: { id: "snake", privilege: "restricted" } });
  expect(welcome.participants.map(({ id }: Seen) => id)).toEqual(["alice", "listener", "oven"]);
  expect((await next("chatted")).ack).toMatchObject({ event: "ack", seq: 1 });
  expect(await next("refused")).toMatchObject({
    kind: "mcp",
    payload: { id: 7, error: { code: -32001, data: { reason: "privilege_violation" } } },
  });

  const { id: proposal } = await next("proposed");
  const wish = await oven.find(({ id }) => id === proposal);
  expect(wish).toMatchObject({ from: "snake", to: ["oven"], kind: "mcp/proposal" });
  const request = { jsonrpc: "2.0", id: 1, ...wish.payload };
  const call = alice.send({ kind: "mcp", to: ["oven"], correlation_id: proposal, payload: request });
  await oven.find(({ id }) => id === call);
  const result = { content: [{ type: "text", text: "220 °C" }] };
  const payload = { jsonrpc: "2.0", id: 1, result };
  oven.send({ kind: "mcp", to: ["alice", "snake"], correlation_id: call, payload });
  expect(await next("fulfilled")).toMatchObject({ by: "alice", to: ["alice", "snake"], result });

  const { id: lastSent } = await next("sent");
  const { seq: unread } = await listener.find(({ id }) => id === lastSent);
  child.stdin?.write("now break off\n");
  const lost = await next("lost");
  expect(lost.at).toBe(unread - 1);
  await alice.event("leave");
  for (const text of ["it is gone", "wait for it", "the end"]) await alice.ack(alice.say(text));
  child.stdin?.write("come back\n");

  const resumed = await next("resumed");
  expect(resumed.welcome).toMatchObject({ resumed: true, history: { seq: lost.at } });
  expect(resumed.ack).toMatchObject({ event: "ack", id: lastSent, seq: unread });
  expect(await exited, errors()).toBe(0);

  // What it was told is what happened: everything once, in order, from first to last.
  const { body } = await server.call("GET", `/v0/topics/${topic}/history`, token);
  const story = body.envelopes.map(({ seq, id }: Seen) => [seq, id]).reverse();
  expect(resumed.seen).toEqual(story);
  expect(story).toHaveLength(8);
});

test("[X0-9-7] a verifier in Python, written from the page alone, says the same of every signed envelope", () => {
  const vectors = readFileSync(`${import.meta.dirname}/../../spec/vectors/signatures.json`, "utf8");
  const states = execFileSync("/usr/bin/python3", [`${import.meta.dirname}/verify.py`], { input: vectors });
  const { cases } = JSON.parse(vectors);
  expect(cases.length).toBeGreaterThan(20);
  expect(JSON.parse(String(states))).toEqual(cases.map(({ state }: Seen) => state));
});
