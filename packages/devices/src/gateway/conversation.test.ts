import { expect, test } from "vitest";
import type { Line } from "../lines/line.ts";
import { type Answer, Conversation, type Question } from "./conversation.ts";

const done: Answer = { kind: "result", result: new Uint8Array() };
const busy: Answer = { kind: "error", status: 3, text: undefined };

/** A line that keeps what was sent: `flush`, `METHOD#ID`. */
function openConversation(ids = 256) {
  const sent: string[] = [];
  const conversation = new Conversation({
    ids,
    flush: Uint8Array.of(0),
    request: (method, id) => Uint8Array.of(method, id),
  });
  const line: Line = {
    write: (bytes) => {
      const [method, id] = bytes.slice(-2);
      sent.push(`${bytes.length > 2 ? "flush " : ""}${method}#${id}`);
      return true;
    },
    close: () => {},
  };
  conversation.use(line);
  return { conversation, sent, line };
}

const ask = (method: number, more: Partial<Question> = {}): Question => ({
  method,
  body: new Uint8Array(),
  timeoutMs: 20,
  isRepeatable: false,
  ...more,
});

test("[AX-B-6] what may be repeated is sent three times with one id, each after a flush; the rest once", async () => {
  const { conversation, sent } = openConversation();
  expect(await conversation.ask(ask(7, { isRepeatable: true }))).toEqual({ kind: "unanswered" });
  expect(await conversation.ask(ask(8))).toEqual({ kind: "unanswered" });
  expect(sent).toEqual(["flush 7#1", "flush 7#1", "flush 7#1", "flush 8#2"]);
});

test("[AX-B-6] a stub that says it is busy has done nothing: asked again, whatever it is", async () => {
  const { conversation, sent } = openConversation();
  const outcome = conversation.ask(ask(7, { timeoutMs: 1_000 }));
  conversation.hear(1, 7, busy);
  await expect.poll(() => sent.length, { interval: 5 }).toBe(2);
  conversation.hear(1, 7, done);
  expect(await outcome).toEqual(done);
  expect(sent).toEqual(["flush 7#1", "7#1"]);
});

test("[AX-B-6] late, doubled and foreign answers belong to nothing", async () => {
  const { conversation } = openConversation();
  await conversation.ask(ask(7));
  conversation.hear(1, 7, done);
  const outcome = conversation.ask(ask(8, { timeoutMs: 1_000 }));
  conversation.hear(1, 7, done);
  conversation.hear(2, 7, done);
  conversation.hear(2, 8, done);
  conversation.hear(2, 8, done);
  expect(await outcome).toEqual(done);
  expect(conversation.strays).toBe(4);
});

test("one call is open at a time unless the stub takes more; the next one waits, too many are not taken", async () => {
  const { conversation, sent } = openConversation();
  const first = conversation.ask(ask(1, { timeoutMs: 1_000 }));
  const second = conversation.ask(ask(2, { timeoutMs: 1_000 }));
  expect(sent).toHaveLength(1);
  conversation.hear(1, 1, done);
  await first;
  await expect.poll(() => sent.length, { interval: 5 }).toBe(2);
  conversation.callsMax = 2;
  const third = conversation.ask(ask(3, { timeoutMs: 1_000 }));
  expect(sent).toHaveLength(3);
  const crowd = Array.from({ length: 70 }, () => conversation.ask(ask(4, { timeoutMs: 1 })));
  conversation.hear(2, 2, done);
  conversation.hear(3, 3, done);
  expect([await second, await third]).toEqual([done, done]);
  const kinds = (await Promise.all(crowd)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "unreached")).toHaveLength(6);
});

test("[AX-B-6] without a line nothing is reached; a line that ends leaves what was open unanswered, not unreached", async () => {
  const { conversation, line } = openConversation();
  const open = conversation.ask(ask(1, { timeoutMs: 60_000 }));
  conversation.use(undefined);
  expect(await open).toEqual({ kind: "unanswered" });
  expect(await conversation.ask(ask(1, { isRepeatable: true }))).toEqual({ kind: "unreached" });
  conversation.use(line);
  const repeated = conversation.ask(ask(1, { isRepeatable: true, timeoutMs: 60_000 }));
  conversation.use(undefined);
  // It may have been received the first time.
  expect(await repeated).toEqual({ kind: "unanswered" });
});

test("a call that is cancelled is given up, and its id is not used while another has it", async () => {
  const { conversation, sent } = openConversation(2);
  conversation.callsMax = 2;
  const stop = new AbortController();
  const open = conversation.ask(ask(1, { timeoutMs: 60_000, signal: stop.signal }));
  const others = [conversation.ask(ask(2)), expect.poll(() => sent).toHaveLength(2)];
  await Promise.all(others);
  await conversation.ask(ask(3));
  expect(sent).toEqual(["flush 1#1", "2#0", "flush 3#0"]);
  stop.abort();
  expect(await open).toEqual({ kind: "unanswered" });
});

test("a call that is cancelled while a busy stub is left alone is not sent again", async () => {
  const { conversation, sent } = openConversation();
  const stop = new AbortController();
  const outcome = conversation.ask(ask(7, { timeoutMs: 1_000, signal: stop.signal }));
  conversation.hear(1, 7, busy);
  // The answer is read first: the pause after it has begun.
  await new Promise(setImmediate);
  stop.abort();
  expect(await outcome).toEqual(busy);
  expect(sent).toEqual(["flush 7#1"]);
});

test("a line knows what is awaited still, for as long as it is", async () => {
  const { conversation } = openConversation();
  const awaited: (() => boolean)[] = [];
  const write: Line["write"] = (_bytes, isAwaited) => awaited.push(isAwaited as () => boolean) > 0;
  conversation.use({ write, close: () => {} });
  const stop = new AbortController();
  const cancelled = conversation.ask(ask(1, { timeoutMs: 60_000, signal: stop.signal }));
  expect(awaited[0]?.()).toBe(true);
  stop.abort();
  await cancelled;
  expect(awaited[0]?.()).toBe(false);
  const late = conversation.ask(ask(2));
  expect(awaited[1]?.()).toBe(true);
  await late;
  expect(awaited.map((isAwaited) => isAwaited())).toEqual([false, false]);
});
