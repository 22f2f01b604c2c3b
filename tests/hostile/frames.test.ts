// Frames no honest client sends. A case is the bytes written after a good handshake, and what must come of them.
import { afterAll, describe, expect, test } from "vitest";
import { fairNow } from "../support/fair-now.ts";
import { canary, Oracle } from "./oracle.ts";
import { binary, closeFrame, frame, more, ping, RawSocket, text } from "./raw-socket.ts";

const limit = 65_536;
const oracle = await Oracle.start({ limits: { envelopeBytesMax: limit } });
afterAll(() => oracle.stop());

interface FrameCase {
  title: string;
  bytes: () => Buffer | Buffer[];
  /** Reasons of the refusals, in order; none for what is taken. */
  refused?: string | string[];
  /** The close code; without, the connection stays. */
  closes?: number;
  /** Envelopes that get through. */
  published?: number;
}

let count = 0;
function chat(words = "hello"): string {
  count += 1;
  const payload = { text: words, note: canary };
  return JSON.stringify({ protocol: "mcpx/v0.1", id: `frame-${count}`, kind: "chat", payload });
}

/** A chat envelope of exactly this many bytes. */
function sized(bytes: number): string {
  const empty = chat("");
  return empty.replace('"text":""', `"text":"${"x".repeat(bytes - Buffer.byteLength(empty))}"`);
}

/** A message in several frames: the first says what it is, the last that it ends. */
function fragments(parts: readonly (string | Uint8Array)[]): Buffer[] {
  return parts.map((part, i) => frame(i === 0 ? 1 : 0, part, { fin: i === parts.length - 1 }));
}

function cut(whole: string, pieces: number): string[] {
  const size = Math.ceil(whole.length / pieces);
  return Array.from({ length: pieces }, (_, i) => whole.slice(i * size, (i + 1) * size));
}

/** Text with these bytes inside its chat text. */
function chatWith(bytes: number[]): Buffer {
  const [start = "", end = ""] = chat("§").split("§");
  return Buffer.concat([Buffer.from(start), Buffer.from(bytes), Buffer.from(end)]);
}

async function attack({ bytes, refused = [], closes, published }: FrameCase): Promise<void> {
  const raw = await oracle.rawAttacker();
  for (const chunk of [bytes()].flat()) raw.write(chunk);
  const denials = [refused].flat();
  for (const reason of denials) {
    const { payload } = await raw.find((message) => message.payload.event === "error");
    expect(payload).toMatchObject({ reason, data: { reason, detail: expect.any(String) } });
  }
  await oracle.check({ connection: raw, closes, denials, published });
  raw.destroy();
}

const broken: FrameCase[] = [
  { title: "an unmasked text", bytes: () => text(chat(), { isMasked: false }) },
  { title: "an unmasked close", bytes: () => frame(8, "", { isMasked: false }) },
  { title: "reserved bit 1, compression nobody agreed on", bytes: () => text(chat(), { rsv: 4 }) },
  { title: "reserved bit 2", bytes: () => text(chat(), { rsv: 2 }) },
  { title: "reserved bit 3", bytes: () => text(chat(), { rsv: 1 }) },
  { title: "a compressed ping", bytes: () => ping("x", { rsv: 4 }) },
  { title: "a compressed continuation", bytes: () => [text("{", { fin: false }), more("}", { rsv: 4 })] },
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => ({
    title: `the reserved opcode ${opcode}`,
    bytes: () => frame(opcode, chat()),
  })),
  { title: "a continuation of nothing", bytes: () => more(chat()) },
  { title: "a text inside a fragmented text", bytes: () => [text("{", { fin: false }), text(chat())] },
  { title: "a binary inside a fragmented text", bytes: () => [text("{", { fin: false }), binary("x")] },
  { title: "a fragmented ping", bytes: () => ping("x", { fin: false }) },
  { title: "a fragmented close", bytes: () => frame(8, "", { fin: false }) },
  { title: "a ping of 126 bytes", bytes: () => ping("x".repeat(126)) },
  { title: "a pong of 64 KiB", bytes: () => frame(10, "x".repeat(65_535)) },
  { title: "a ping that announces 2^63 bytes", bytes: () => ping("", { announced: 2n ** 63n }) },
  { title: "a text that announces 2^64-1 bytes", bytes: () => text("", { announced: 2n ** 64n - 1n }) },
  { title: "a close of one byte", bytes: () => frame(8, "x") },
  { title: "HTTP where frames belong", bytes: () => Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n") },
  { title: "noise", bytes: () => Buffer.alloc(4_096, 0xff) },
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535].map((code) => ({
    title: `a close with the code ${code}`,
    bytes: () => closeFrame(code),
  })),
];

test.for(broken)("[X0-4-1] a broken frame layer is told so and closed with 4400: $title", (one) =>
  attack({ refused: "bad_frame", closes: 4400, ...one }),
);

const oversize: FrameCase[] = [
  { title: "4 097 fragments", bytes: () => fragments(cut(sized(4_097 * 15), 4_097)) },
  {
    title: "empty fragments without end",
    bytes: () => [text("{", { fin: false }), ...Array(5_000).fill(more("", { fin: false }))],
  },
  { title: "a text that announces 1 GiB", bytes: () => text("", { announced: 2n ** 30n }) },
  { title: "a binary that announces 1 GiB", bytes: () => binary("", { announced: 2n ** 30n }) },
  { title: "a text that announces 4 GiB", bytes: () => text("", { announced: 2n ** 32n }) },
  { title: "one byte over twice the limit", bytes: () => text("", { announced: BigInt(2 * limit + 1) }) },
  {
    title: "fragments that together announce too much",
    bytes: () => [text("x".repeat(limit), { fin: false }), more("", { announced: BigInt(limit + 1) })],
  },
];

test.for(oversize)(
  "[X0-4-1] what is far too large is refused at its header and closed with 4400: $title",
  (one) => attack({ refused: "too_large", closes: 4400, ...one }),
);

const endless = [0xe2, 0x82];
const staying: FrameCase[] = [
  { title: "an envelope one byte over the limit", bytes: () => text(sized(limit + 1)), refused: "too_large" },
  { title: "an envelope of twice the limit", bytes: () => text("x".repeat(2 * limit)), refused: "too_large" },
  {
    title: "fragments that together are over the limit",
    bytes: () => fragments(cut(sized(limit + 7), 5)),
    refused: "too_large",
  },
  { title: "a binary frame", bytes: () => binary(chat()), refused: "not_text" },
  { title: "an empty binary frame", bytes: () => binary(""), refused: "not_text" },
  { title: "an empty text frame", bytes: () => text(""), refused: "bad_json" },
  { title: "a lone continuation byte", bytes: () => text(chatWith([0x80])), refused: "bad_utf8" },
  { title: "an overlong slash", bytes: () => text(chatWith([0xc0, 0xaf])), refused: "bad_utf8" },
  { title: "an overlong quote", bytes: () => text(chatWith([0xc0, 0xa2])), refused: "bad_utf8" },
  { title: "a surrogate in UTF-8", bytes: () => text(chatWith([0xed, 0xa0, 0x80])), refused: "bad_utf8" },
  { title: "beyond U+10FFFF", bytes: () => text(chatWith([0xf4, 0x90, 0x80, 0x80])), refused: "bad_utf8" },
  { title: "a character cut off at the end", bytes: () => text(Buffer.from(endless)), refused: "bad_utf8" },
  {
    title: "bad UTF-8 in the second of three fragments",
    bytes: () => fragments([chat("x").slice(0, -3), Buffer.from([0xff]), "}}"]),
    refused: "bad_utf8",
  },
  {
    title: "a character that never ends across a fragment",
    bytes: () => fragments([Buffer.from(endless), "}"]),
    refused: "bad_utf8",
  },
]; // biome-ignore format: a table

test.for(staying)("[X0-4-1] it is told so and stays: $title", (one) => attack(one));

const harmless: FrameCase[] = [
  { title: "an envelope exactly at the limit", bytes: () => text(sized(limit)) },
  {
    title: "a character cut in two by fragments",
    bytes: () => {
      const bytes = Buffer.from(chat("€"));
      const at = bytes.indexOf(0xe2) + 1;
      return fragments([bytes.subarray(0, at), bytes.subarray(at)]);
    },
  },
  { title: "4 096 fragments", bytes: () => fragments(cut(sized(4_096 * 15), 4_096)) },
  {
    title: "pings between fragments",
    bytes: () => fragments(cut(chat(), 20)).flatMap((part) => [part, ping("p")]),
  },
  { title: "a length written too long", bytes: () => text(chat(), { lengthBits: 64 }) },
  { title: "one byte at a time", bytes: () => [...text(chat())].map((byte) => Buffer.from([byte])) },
  { title: "unasked pongs", bytes: () => [frame(10, "x"), frame(10, ""), text(chat())] },
  { title: "a thousand pings", bytes: () => [...Array(1_000).fill(ping("x")), text(chat())] },
]; // biome-ignore format: a table

test.for(harmless)("[X0-5.2-3] it is odd but allowed: $title", (one) => attack({ published: 1, ...one }));

const goodbyes: FrameCase[] = [
  { title: "a close without a code", bytes: () => frame(8), closes: 1000 },
  { title: "a close with 1000", bytes: () => closeFrame(1000, canary), closes: 1000 },
  { title: "a close with 4999", bytes: () => closeFrame(4999), closes: 1000 },
  { title: "a close with a reason that is not UTF-8", bytes: () => closeFrame(1000, Buffer.from([0xff])), closes: 1007 },
  { title: "an envelope behind the close", bytes: () => [frame(8), text(chat())], closes: 1000 },
  { title: "noise behind the close", bytes: () => [frame(8), Buffer.alloc(100_000, 0xff)], closes: 1000 },
  { title: "an envelope before the close", bytes: () => [text(chat()), frame(8)], closes: 1000, published: 1 },
  { title: "two closes", bytes: () => [closeFrame(1000), closeFrame(1001)], closes: 1000 },
]; // biome-ignore format: a table

test.for(goodbyes)("[X0-9-5] what comes behind a close is not read: $title", (one) => attack(one));

test("[X0-9-5] the connection is over once both sides have closed, also where the other side keeps its half open", async () => {
  const began = await oracle.rawAttacker();
  const kicked = await oracle.rawAttacker();
  const admin = await oracle.server.adminToken();
  const path = `/admin/participants/${encodeURIComponent(kicked.id)}`;
  expect((await oracle.server.call("DELETE", path, admin)).status).toBe(200);
  expect((await kicked.closing()).code).toBe(4403);
  for (const raw of [began, kicked]) {
    raw.write(frame(8));
    await raw.ended();
    const closedAt = fairNow();
    const isOver = () => {
      // What is sent to a socket that is gone comes back as an error.
      raw.write("x");
      return raw.socket.errored !== null;
    };
    await expect.poll(isOver).toBe(true);
    // Nobody waits for a time to run out.
    expect(fairNow() - closedAt).toBeLessThan(1_500);
  }
});

describe("[X0-5.2-1] handshakes with something wrong about them:", () => {
  test("compression is offered and not taken", async () => {
    const raw = await RawSocket.connect(oracle.server.url);
    const offer = { "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits" };
    raw.write(oracle.handshake(await oracle.token(), offer));
    const { status, head } = await raw.answer();
    expect(status).toBe(101);
    expect(head).not.toContain("extensions");
    raw.id = (await raw.find(({ payload }) => payload.event === "welcome")).to[0];
    await oracle.check({ connection: raw });
    raw.destroy();
  });

  test("frames sent before the handshake was answered are read after it", async () => {
    const raw = await RawSocket.connect(oracle.server.url);
    raw.write(Buffer.concat([Buffer.from(oracle.handshake(await oracle.token())), text(chat())]));
    expect((await raw.answer()).status).toBe(101);
    await raw.find(({ payload }) => payload.event === "ack");
    await oracle.check({ connection: raw, published: 1 });
    raw.destroy();
  });

  test("half handshakes, many of them, keep nobody out", async () => {
    const halves = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const raw = await RawSocket.connect(oracle.server.url);
        const head = oracle.handshake(undefined);
        raw.write(head.slice(0, (i * 7) % (head.length - 4)));
        return raw;
      }),
    );
    const client = await oracle.attacker();
    await oracle.check({ connection: client });
    for (const raw of halves) raw.destroy();
    await client.leave();
  });

  test("who leaves in the middle of everything leaves nothing behind", async () => {
    for (let bytes = 2; bytes < 40; bytes += 3) {
      const raw = await oracle.rawAttacker();
      raw.write(text(chat()).subarray(0, bytes));
      raw.socket.resetAndDestroy();
    }
    await oracle.check({});
  });
});

test("a flood of pings that are never read back is bounded in memory", async () => {
  const raw = await oracle.rawAttacker();
  raw.socket.pause();
  const pings = Buffer.concat(Array(10_000).fill(ping("x".repeat(125))));
  const queued = async () => {
    const { body } = await oracle.server.call("GET", "/admin/connections", await oracle.server.adminToken());
    return body.connections.find(({ participantId }: { participantId: string }) => participantId === raw.id)
      ?.queuedBytes;
  };
  for (let i = 0; i < 20; i += 1) {
    if (!raw.socket.write(pings)) await new Promise((resolve) => raw.socket.once("drain", resolve));
    expect((await queued()) ?? 0).toBeLessThan(2 * 1_048_576);
  }
  raw.destroy();
  await oracle.check({});
});

describe("what one principal has not finished, over all its connections", () => {
  const small = { heldBytesPerPrincipalMax: 2_097_152 };
  const pieces = (count: number) => Buffer.concat(Array(count).fill(more("x", { fin: false })));
  const begun = () => Buffer.concat([text("{", { fin: false }), pieces(3_999)]);

  test("frames count for the memory they take, not for the bytes they carry; others are untouched", async () => {
    const narrow = await Oracle.start({ limits: small });
    try {
      const claims = { sub: "mallory", topics: ["**"] };
      const enterRoom = (i: number) => narrow.rawAttacker(claims, { target: `/v0/ws?topic=flood:${i}` });
      const open = [await enterRoom(0), await enterRoom(1), await enterRoom(2)];
      for (const raw of open) raw.write(begun());
      // A pong says that all before it was taken.
      for (const raw of open) {
        raw.write(ping("taken"));
        await raw.until(() => raw.pongs.length > 0, "a pong");
      }
      const last = await enterRoom(3);
      last.write(begun());
      expect((await last.closing()).code).toBe(4429);
      await narrow.check({ denials: ["rate_limited"], actor: "mallory" });
      // What is finished is free again.
      for (const raw of open) {
        raw.write(more("}"));
        await raw.find(({ payload }) => payload.reason === "bad_json");
      }
      const again = await enterRoom(4);
      again.write(Buffer.concat([begun(), more("}")]));
      await again.find(({ payload }) => payload.reason === "bad_json");
      for (const raw of [...open, last, again]) raw.destroy();
    } finally {
      await narrow.stop();
    }
  });

  test("who only listens, and answers pings for weeks, has nothing unfinished", async () => {
    const narrow = await Oracle.start({ limits: small });
    try {
      const raw = await narrow.rawAttacker();
      const pongs = Buffer.concat(Array(1_000).fill(frame(10, "x".repeat(125))));
      for (let i = 0; i < 30; i += 1) {
        if (!raw.socket.write(pongs)) await new Promise((resolve) => raw.socket.once("drain", resolve));
      }
      raw.write(ping("still here"));
      await raw.until(() => raw.pongs.length > 0, "a pong");
      raw.write(text(chat()));
      await raw.find(({ payload }) => payload.event === "ack");
      await narrow.check({ connection: raw, published: 1 });
      raw.destroy();
    } finally {
      await narrow.stop();
    }
  });
});

describe("control: the oracle itself", () => {
  test("sees a secret in a log line", async () => {
    const { logged } = oracle.server;
    const at = logged.push(`{"msg":"got ${canary}"}`) - 1;
    await expect(oracle.check({})).rejects.toThrow("a secret was logged");
    logged.splice(at, 1);
    await oracle.check({});
  });

  test("sees a close code that is not documented", async () => {
    const raw = await oracle.rawAttacker();
    raw.closed = { code: 1006, reason: "" };
    await expect(oracle.check({ connection: raw, closes: 4400 })).rejects.toThrow("not documented");
    raw.destroy();
  });
});
