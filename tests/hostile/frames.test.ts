// Frames no honest client sends. A case is the bytes written after a good handshake, and what must come of them.
import { afterAll, describe, expect, test } from "vitest";
import { canary, Oracle } from "./oracle.ts";
import { binary, closeFrame, frame, more, ping, RawSocket, text } from "./raw-socket.ts";

const limit = 65_536;
const oracle = await Oracle.start({ limits: { envelopeBytesMax: limit } });
afterAll(() => oracle.stop());

interface FrameCase {
  title: string;
  bytes: () => Buffer | Buffer[];
  /** The reason of the refusal. */
  refused?: string;
  /** The close code, where it does not stay open. */
  closes?: number;
  published?: number;
}

let count = 0;
function chat(words = "hello", more: Record<string, unknown> = {}): string {
  count += 1;
  const payload = { text: words, note: canary };
  return JSON.stringify({ protocol: "mcpx/v0.1", id: `frame-${count}`, kind: "chat", payload, ...more });
}

/** A chat envelope of exactly this many bytes. */
function sized(bytes: number): string {
  const empty = chat("");
  return empty.replace('"text":""', `"text":"${"x".repeat(bytes - Buffer.byteLength(empty))}"`);
}

/** A message in as many frames as given: the first says what it is, the last that it ends. */
function fragmented(parts: readonly (string | Uint8Array)[]): Buffer[] {
  return parts.map((part, i) => frame(i === 0 ? 1 : 0, part, { fin: i === parts.length - 1 }));
}

function cut(whole: string, pieces: number): string[] {
  const size = Math.ceil(whole.length / pieces);
  return Array.from({ length: pieces }, (_, i) => whole.slice(i * size, (i + 1) * size));
}

async function attack({ bytes, refused, closes, published }: FrameCase): Promise<void> {
  const raw = await oracle.rawAttacker();
  const [id] = raw.messages.splice(0).flatMap(({ to }) => to ?? []);
  for (const chunk of [bytes()].flat()) raw.write(chunk);
  if (refused !== undefined) {
    const { payload, to } = await raw.find((message) => message.payload.event === "error");
    expect(payload.reason).toBe(refused);
    expect(payload.data).toMatchObject({ reason: refused, detail: expect.any(String) });
    expect(to).toEqual([expect.stringMatching(/^mallory-/)]);
  }
  if (closes !== undefined) expect((await raw.closing()).code).toBe(closes);
  const actor = id ?? `mallory-${attackers()}`;
  await oracle.check({
    connection: raw,
    closes,
    denials: refused === undefined ? [] : [refused],
    actor,
    published: published ?? 0,
  });
  raw.destroy();
}

let joined = 0;
function attackers(): number {
  joined += 1;
  return joined;
}

describe("[X0-4-1] a broken frame layer gets an error and close 4400:", () => {
  const broken: FrameCase[] = [
    { title: "an unmasked text frame", bytes: () => text(chat(), { isMasked: false }) },
    { title: "an unmasked close frame", bytes: () => frame(8, "", { isMasked: false }) },
    { title: "reserved bit 1: compression nobody agreed on", bytes: () => text(chat(), { rsv: 4 }) },
    { title: "reserved bit 2", bytes: () => text(chat(), { rsv: 2 }) },
    { title: "reserved bit 3", bytes: () => text(chat(), { rsv: 1 }) },
    { title: "a compressed ping", bytes: () => ping("x", { rsv: 4 }) },
    { title: "a compressed continuation", bytes: () => [text("{", { fin: false }), more("}", { rsv: 4 })] },
    ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => ({
      title: `the reserved opcode ${opcode}`,
      bytes: () => frame(opcode, chat()),
    })),
    { title: "a continuation of nothing", bytes: () => more(chat()) },
    { title: "a continuation after the end", bytes: () => [...fragmented(["[", "]"]), more("x")] },
    {
      title: "a text frame inside a fragmented one",
      bytes: () => [text("{", { fin: false }), text(chat())],
    },
    {
      title: "a binary frame inside a fragmented text",
      bytes: () => [text("{", { fin: false }), binary("x")],
    },
    { title: "a fragmented ping", bytes: () => ping("x", { fin: false }) },
    { title: "a fragmented close", bytes: () => frame(8, "", { fin: false }) },
    { title: "a ping of 126 bytes", bytes: () => ping("x".repeat(126)) },
    { title: "a pong of 64 KiB", bytes: () => frame(10, "x".repeat(65_535)) },
    { title: "a ping that announces 2^63 bytes", bytes: () => ping("", { announced: 2n ** 63n }) },
    { title: "a text that announces 2^63 bytes", bytes: () => text("", { announced: 2n ** 63n }) },
    { title: "a text that announces 2^64-1 bytes", bytes: () => text("", { announced: 2n ** 64n - 1n }) },
    { title: "a close frame of one byte", bytes: () => frame(8, "x") },
    { title: "more fragments than anybody needs", bytes: () => fragmented(cut(chat("x".repeat(3_000)), 3_000)) },
    { title: "thousands of empty fragments", bytes: () => [text("{", { fin: false }), ...Array(3_000).fill(more("", { fin: false }))] },
    ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map((code) => ({
      title: `a close frame with the code ${code}`,
      bytes: () => closeFrame(code),
    })),
  ]; // biome-ignore format: a table

  test.for(broken)("$title", async (one) => {
    const fragments = one.title.includes("[X") ? one.refused : "bad_frame";
    await attack({ closes: 4400, refused: fragments ?? "bad_frame", ...one, published: 0 });
  });
});
