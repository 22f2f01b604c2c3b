import { on } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { faultOf, serve, talkTo } from "./thread.ts";

const start = (script: string, onLost: (message: string) => void = () => {}) =>
  talkTo<string, string>(new Worker(script, { eval: true, stderr: true }), onLost);

const echo = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", (request) => {
    if (request === "die") throw new Error("out of cheese");
    parentPort.postMessage([{ done: request }]);
  });
`;

test("requests are answered in their order", async () => {
  const thread = start(echo);
  expect(await Promise.all([thread.ask("a"), thread.ask("b")])).toEqual([{ done: "a" }, { done: "b" }]);
  await thread.end();
});

test("a thread that dies fails all that wait and all that come later, and says so once", async () => {
  const lost: string[] = [];
  const thread = start(echo, (message) => lost.push(message));
  const failed = { fault: "failed", message: "Error: out of cheese" };
  expect(await Promise.all([thread.ask("die"), thread.ask("b")])).toEqual([failed, failed]);
  expect(await thread.ask("c")).toEqual(failed);
  await thread.end();
  expect(lost).toEqual(["Error: out of cheese"]);
});

test("a thread that ends while nobody waits is noticed", async () => {
  const message = await new Promise((resolve) => start("process.exit(3)", resolve));
  expect(message).toBe("the thread ended with code 3");
});

test("a thread that is ended on purpose is not lost", async () => {
  const lost: string[] = [];
  const thread = start(echo, (message) => lost.push(message));
  await thread.end();
  expect(lost).toEqual([]);
});

/** Asks all at once; each answer tells with which others it was handled. */
async function answers(requests: string[], handle: (requests: string[]) => string[]): Promise<unknown[]> {
  const { port1, port2 } = new MessageChannel();
  const isLetter = (request: string) => /[a-z]/.test(request);
  for (const request of requests) port1.postMessage(request);
  serve<string, string>(port2, isLetter, handle);
  const replies: unknown[] = [];
  for await (const [group] of on(port1, "message")) {
    replies.push(...group);
    if (replies.length === requests.length) break;
  }
  port1.close();
  return replies;
}

test("requests that wait together and may share are handled as one", async () => {
  const replies = await answers(["a", "b", "1", "2", "c"], (group) => group.map(() => group.join("")));
  expect(replies).toEqual(["ab", "ab", "1", "2", "c"].map((done) => ({ done })));
});

test("those that share share a fault, and after one that does not pass nothing is done any more", async () => {
  const fault = (errcode: number) => Object.assign(new Error("x"), { errcode });
  const replies = await answers(["a", "b", "1", "2", "c"], (group) => {
    if (group[0] === "a") throw fault(13);
    if (group[0] === "2") throw fault(10);
    return group;
  });
  const [full, failed] = ["full", "failed"].map((name) => ({ fault: name, message: "Error: x" }));
  expect(replies).toEqual([full, full, { done: "1" }, failed, failed]);
});

test("only a full disk and a held lock pass by themselves", () => {
  const error = (errcode: number) => Object.assign(new Error("x"), { errcode });
  // 4874 is a write-ahead log's index that found no room.
  expect([13, 4_874].map((code) => faultOf(error(code)))).toEqual(["full", "full"]);
  expect([5, 6, 5 | (2 << 8)].map((code) => faultOf(error(code)))).toEqual(["busy", "busy", "busy"]);
  // Among them 1034, a failed fsync.
  expect([10, 11, 1034, 19].map((code) => faultOf(error(code)))).toEqual(Array(4).fill("failed"));
  expect(faultOf(new TypeError("no"))).toBe("failed");
});
