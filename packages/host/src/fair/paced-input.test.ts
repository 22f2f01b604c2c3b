import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { McpxError } from "@mcpx/protocol";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import type { Hold } from "./byte-ledger.ts";
import { type PaceOptions, paceInput } from "./paced-input.ts";
import { createTurns } from "./turns.ts";

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** Two ends of a real connection. */
async function pair(): Promise<[near: Socket, far: Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const far = connect(port, "127.0.0.1");
  const [near] = (await once(server, "connection")) as [Socket];
  server.close();
  open.push(near, far);
  return [near, far];
}

const free: Hold = { bytes: 0, resize() {}, release() {} };

function paced(near: Socket, head = Buffer.alloc(0), options: Partial<PaceOptions> = {}) {
  const turns = createTurns();
  const account = turns.account("one");
  const share = paceInput(near, head, { turns, account: () => account, hold: () => free, ...options });
  return { turns, account, share };
}

async function readAll(near: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  near.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(near, "end");
  return Buffer.concat(chunks);
}

test("every byte comes, in order, whatever the sizes and however long others work", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), { maxLength: 20 }),
      fc.uint8Array({ maxLength: 3_000 }),
      fc.boolean(),
      async (chunks, head, isBusy) => {
        const [near, far] = await pair();
        const { turns, account } = paced(near, Buffer.from(head));
        const reading = readAll(near);
        for (const chunk of chunks) {
          if (isBusy) turns.add(account, 10);
          far.write(chunk);
        }
        far.end();
        expect(Buffer.compare(await reading, Buffer.concat([head, ...chunks]))).toBe(0);
      },
    ),
    { numRuns: 30 },
  );
});

test("nobody is read from while an account waits for its turn: the rest stays with its sender", async () => {
  const [near, far] = await pair();
  const { turns, account } = paced(near);
  let seen = 0;
  near.on("data", (chunk: Buffer) => {
    seen += chunk.length;
  });
  // Always behind: it never has a second piece in one turn.
  const busy = setInterval(() => turns.add(account, 50), 0);
  const isTaken = far.write(Buffer.alloc(64 * 1_048_576));
  expect(isTaken).toBe(false);
  for (let i = 0; i < 200; i += 1) await new Promise(setImmediate);
  expect(near.bytesRead - seen).toBeLessThan(2 * 65_536);
  clearInterval(busy);
});

test("a reader that pauses gets the rest when it goes on", async () => {
  const [near, far] = await pair();
  paced(near);
  const sent = Buffer.alloc(300_000, "x");
  let seen = 0;
  near.on("data", (chunk: Buffer) => {
    seen += chunk.length;
    near.pause();
    setImmediate(() => near.resume());
  });
  far.end(sent);
  await once(near, "end");
  expect(seen).toBe(sent.length);
});

test("a reader that asks for more in the middle of a piece gets each byte once, and no end before the end", async () => {
  const [near, far] = await pair();
  const { turns, account } = paced(near);
  const sent = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));
  const chunks: Buffer[] = [];
  near.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    // Now and then it is not its turn any more.
    if (chunks.length % 3 === 0) turns.add(account, 5);
    near.pause();
    near.resume();
    near.read(0);
    near._read(0);
  });
  let hasEnded = false;
  near.once("end", () => {
    hasEnded = true;
  });
  // With silence between them: there nothing more is to be given.
  for (let at = 0; at < sent.length; at += 40_000) {
    far.write(sent.subarray(at, at + 40_000));
    while (Buffer.concat(chunks).length < at + 40_000 && !hasEnded) await new Promise(setImmediate);
    for (let i = 0; i < 20; i += 1) await new Promise(setImmediate);
    expect(hasEnded).toBe(false);
  }
  far.end();
  await once(near, "end");
  expect(Buffer.compare(Buffer.concat(chunks), sent)).toBe(0);
});

test("an unfinished message is held on its account until it is whole, or its socket ends", async () => {
  const [near, far] = await pair();
  let held = 0;
  const hold = (): Hold => ({
    bytes: 0,

    resize: (bytes) => {
      held = bytes;
    },
    release: () => {
      held = 0;
    },
  });
  paced(near, undefined, { hold });
  let seen = 0;
  near.on("data", (chunk: Buffer) => {
    seen += chunk.length;
  });
  const until = async (bytes: number) => {
    while (seen < bytes) await new Promise(setImmediate);
  };
  const head = Buffer.from("82ff0000000000030d4000000000", "hex");
  const message = Buffer.concat([head, Buffer.alloc(200_000)]);
  far.write(message.subarray(0, 10_000));
  await until(10_000);
  expect(held).toBe(0);
  far.write(message.subarray(10_000, 100_000));
  await until(100_000);
  // And what keeping it in pieces costs.
  expect(held).toBeGreaterThan(100_000);
  expect(held).toBeLessThan(130_000);
  far.write(message.subarray(100_000));
  await until(message.length);
  expect(held).toBe(0);
  far.write(message.subarray(0, 50_000));
  await until(message.length + 50_000);
  expect(held).toBeGreaterThan(50_000);
  far.destroy();
  await once(near, "close");
  expect(held).toBe(0);
});

test("a message that comes byte by byte is held for what it takes in memory", async () => {
  const [near] = await pair();
  let held = 0;
  const hold = (): Hold => ({
    ...free,
    resize: (bytes) => {
      held = bytes;
    },
  });
  paced(near, undefined, { hold });
  near.resume();
  // A frame of 256 bytes and its mask, and behind it those of a next one.
  for (const byte of [0x01, 0xff, 0, 0, 0, 0, 0, 0, 1, 0, ...Array<number>(290).fill(1)]) {
    near.push(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  expect(held).toBeGreaterThan(300 * 100);
});

test("where there is no room for an unfinished message, its reader is told", async () => {
  const [near, far] = await pair();
  const hold = (): Hold => ({
    ...free,
    resize() {
      throw new McpxError("rate_limited");
    },
  });
  const { share } = paced(near, undefined, { hold });
  const refused = Promise.withResolvers<unknown>();
  share.onRefused(refused.resolve);
  near.resume();
  far.write(Buffer.concat([Buffer.from("82ff0000000000030d4000000000", "hex"), Buffer.alloc(100_000)]));
  expect(await refused.promise).toMatchObject({ code: "rate_limited" });
});
