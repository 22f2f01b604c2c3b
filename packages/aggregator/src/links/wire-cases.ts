// What every wire must do, whatever carries it. Each is opened to a raw server that knows a few methods: `echo`
// (answers its params), `note` (a notification first), `batch` (both in one array), `large` (an answer of that many
// bytes), `silent` (none) and `end` (its end).
import { isMcpxError, type JsonObject } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import type { Wire, WireTaker } from "./wire.ts";

interface WireUnderTest {
  wire: Wire;
  /** Resolves when the server has seen that nobody is there any more. */
  seenClosed(): Promise<void>;
}

export type OpenWire = (taker: WireTaker, bytesMax: number) => Promise<WireUnderTest>;

const bytesMax = 100_000;

async function start(open: OpenWire) {
  const others: JsonObject[] = [];
  const logLines: string[] = [];
  const waiting = new Map<unknown, PromiseWithResolvers<JsonObject>>();
  const take = (message: JsonObject) => {
    const asked = waiting.get(message.id);
    if (message.method === undefined && asked !== undefined) asked.resolve(message);
    else others.push(message);
  };
  const taker: WireTaker = {
    message: take,
    logLine: (line) => void logLines.push(line),
    unreadable: (id, detail) => waiting.get(id)?.reject(new Error(detail)),
  };
  const { wire, seenClosed } = await open(taker, bytesMax);
  onTestFinished(() => wire.close());
  let lastId = 0;
  const ask = async (method: string, params: JsonObject = {}, signal?: AbortSignal): Promise<JsonObject> => {
    lastId += 1;
    const answered = Promise.withResolvers<JsonObject>();
    waiting.set(lastId, answered);
    const message = { jsonrpc: "2.0", id: lastId, method, params };
    await Promise.race([answered.promise, wire.send(message, { take, signal }).then(() => answered.promise)]);
    return answered.promise;
  };
  return { wire, ask, others, logLines, seenClosed };
}

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "fulfilled",
    (error: unknown) => (isMcpxError(error) ? error.code : String(error)),
  );
}

export function wireCases(name: string, open: OpenWire): void {
  test(`${name}: what is asked is answered, many at once too`, async () => {
    const { ask } = await start(open);
    expect(await ask("echo", { a: ["ä", null, "\u2028\n"] })).toMatchObject({
      result: { a: ["ä", null, "\u2028\n"] },
    });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => ask("echo", { n })));
    expect(answers.map(({ result }) => (result as JsonObject).n)).toEqual(
      Array.from({ length: 200 }, (_, n) => n),
    );
  });

  test(`${name}: numbers come back as they were`, async () => {
    const { ask } = await start(open);
    const answer = await ask("numbers");
    expect(JSON.stringify(answer.result)).toBe('{"n":[9007199254740993,1.0,1e400]}');
    const echoed = await ask("echo", answer.result as JsonObject);
    expect(JSON.stringify(echoed.result)).toBe('{"n":[9007199254740993,1.0,1e400]}');
  });

  test(`${name}: what comes beside an answer comes before it, in batches too`, async () => {
    const { ask, others } = await start(open);
    await ask("note");
    expect(others).toMatchObject([{ method: "notifications/note" }]);
    await ask("batch");
    expect(others).toMatchObject([{ method: "notifications/note" }, { method: "notifications/note" }]);
  });

  test(`${name}: an answer past the bound is lost alone`, async () => {
    const { ask } = await start(open);
    const slow = ask("slow");
    expect((await ask("large", { bytes: bytesMax - 1_000 })).result).toBeDefined();
    await expect(ask("large", { bytes: bytesMax * 20 })).rejects.toThrow(/more than 100000 bytes/);
    expect((await ask("echo", { n: 1 })).result).toEqual({ n: 1 });
    await slow;
  });

  test(`${name}: closed, it says so, the server notices, and nothing more is sent`, async () => {
    const { wire, ask, seenClosed } = await start(open);
    await ask("echo");
    void ask("silent").catch(() => {});
    await wire.close();
    expect(await wire.ended).toBeTypeOf("string");
    expect(await reasonOf(wire.send({ jsonrpc: "2.0", method: "notifications/x" }))).toBe(
      "server_unreachable",
    );
    await seenClosed();
    await wire.close();
  });
}
