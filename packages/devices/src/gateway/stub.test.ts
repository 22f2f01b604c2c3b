import { expect, test } from "vitest";
import { decodeCobs, frameCobs } from "../framing/cobs.ts";
import { sealed } from "../framing/crc.ts";
import { encodeFrameA } from "../framing/frame-a.ts";
import { encodeCbor } from "../wire/cbor.ts";
import { encodeRequest } from "../wire/message.ts";
import { callDevice } from "./call-device.ts";
import type { DeviceConfig, ToolConfig } from "./device-config.ts";
import type { CreateStub } from "./stub.ts";
import { createStubA } from "./stub-a.ts";
import { createStubB } from "./stub-b.ts";

const toolOf = (type: "u8" | "uint"): ToolConfig => ({
  id: 200,
  name: "dim",
  arguments: [{ name: "percent", type, maximum: 100 }],
  result: [{ name: "percent", type, maximum: 100 }],
  statuses: { 130: "the lid is open" },
  timeoutMs: 1_000,
});

const nothing = () => {};
const quietly = { dropped: nothing, heard: nothing, said: nothing, restarted: nothing, replaced: nothing };

/** A stub on a line that keeps what was sent, and says whatever it is told to. */
function open(
  create: CreateStub,
  config: Pick<DeviceConfig, "profile" | "tools" | "payloadMax" | "encoding">,
) {
  const sent: Buffer[] = [];
  const stub = create({ segment: "lamp", ...config }, quietly);
  const say = stub.readLine();
  const line = { write: (bytes: Uint8Array) => sent.push(Buffer.from(bytes)) > 0, close: () => {} };
  stub.conversation.use(line);
  return { stub, sent, say };
}

const meta = { _meta: { "x-mcpax-route": ["lamp", "dim"] } };

test("[AX-8.2-2] [AX-8.2-3] a profile A device hears its own id and its arguments, byte for byte, and nothing else", async () => {
  const tool = toolOf("u8");
  const { stub, sent, say } = open(createStubA, { profile: "a", tools: [tool] });
  expect(await callDevice(stub, tool, { percent: 50, ...meta }, undefined)).toMatchObject({ isError: true });
  expect(sent).toEqual([]);
  const call = callDevice(stub, tool, { percent: 50 }, undefined);
  const frame = encodeFrameA({ type: 1, tool: 200, seq: 1, payload: Uint8Array.of(50) }, 16);
  expect(sent).toEqual([Buffer.concat([new Uint8Array(16), frame])]);
  say(encodeFrameA({ type: 2, tool: 200, seq: 1, payload: Uint8Array.of(0, 50) }, 16));
  expect(await call).toMatchObject({ structuredContent: { percent: 50 } });
});

test("[AX-8.2-2] [AX-8.2-3] a profile B device does too", async () => {
  const tool = toolOf("uint");
  const { stub, sent, say } = open(createStubB, { profile: "b", tools: [tool] });
  const greeting = stub.greet(1_000);
  expect(sent).toEqual([Buffer.from(frameCobs(encodeRequest(-1, 1, [])))]);
  const registration = new Map<number, never>(
    Object.entries({ 0: 1, 1: Uint8Array.of(7), 2: 64, 4: new Map([[200, Uint8Array.of(5, 0)]]) }).map(
      ([key, value]) => [Number(key), value as never],
    ),
  );
  say(
    frameCobs(
      sealed(
        encodeCbor(
          new Map<number, never>([
            [2, 1 as never],
            [4, registration as never],
          ]),
        ),
      ),
    ),
  );
  expect(await greeting).toBeUndefined();
  expect(stub.tools()).toEqual([tool]);
  const call = callDevice(stub, tool, { percent: 50 }, undefined);
  expect(decodeCobs(new Uint8Array(sent[1] ?? []).slice(1, -1))).toEqual(encodeRequest(200, 2, [50]));
  say(
    frameCobs(
      sealed(
        encodeCbor(
          new Map<number, never>([
            [2, 2 as never],
            [4, new Map([[0, 50]]) as never],
          ]),
        ),
      ),
    ),
  );
  expect(await call).toMatchObject({ structuredContent: { percent: 50 } });
});

test.each([
  ["a status of its own, in the configuration's words", [130], "The lid is open (status 130)."],
  ["a status nobody knows", [77], "The device tried and failed (status 77)."],
  [
    "a result out of bounds",
    [0, 101],
    "The device answered, but its result does not fit: percent is not between 0 and 100.",
  ],
  [
    "a result that is too long",
    [0, 1, 1],
    "The device answered, but its result does not fit: there are bytes left over.",
  ],
  [
    "a result that is missing",
    [0],
    "The device answered, but its result does not fit: percent cannot be read.",
  ],
])("[AX-B-4] [AX-10.4-1] %s is a tool error", async (_name, payload, text) => {
  const tool = toolOf("u8");
  const { stub, say } = open(createStubA, { profile: "a", tools: [tool] });
  const call = callDevice(stub, tool, { percent: 50 }, undefined);
  say(encodeFrameA({ type: 2, tool: 200, seq: 1, payload: Uint8Array.from(payload) }, 16));
  expect(await call).toMatchObject({ isError: true, content: [{ text }] });
});

test("[AX-B-1] a line that echoes is not taken for a device", async () => {
  const { stub, sent, say } = open(createStubA, { profile: "a", tools: [] });
  const heartbeat = stub.heartbeat(30);
  say(sent[0] as Buffer);
  expect(await heartbeat).toBe(false);
});

test("[AX-B-6] an answer whose length was damaged swallows no other: the next attempt is heard", async () => {
  const tool: ToolConfig = { ...toolOf("u8"), timeoutMs: 40, capability: { idempotent: true } };
  const { stub, sent, say } = open(createStubA, { profile: "a", tools: [tool] });
  const call = callDevice(stub, tool, { percent: 50 }, undefined);
  const answer = encodeFrameA({ type: 2, tool: 200, seq: 1, payload: Uint8Array.of(0, 50) }, 16);
  // LEN says 1027 now; all that follows would be part of it.
  say(Uint8Array.of(0x7e, 0x84, 0x03, ...answer.subarray(2)));
  await expect.poll(() => sent.length, { interval: 5 }).toBe(2);
  say(answer);
  expect(await call).toMatchObject({ structuredContent: { percent: 50 } });
});

test("[AX-B-1] results of every length are read, also where LEN is a start byte", async () => {
  const tool: ToolConfig = { id: 7, name: "read", layout: "raw", result: [{ name: "data", type: "bytes" }] };
  const { stub, say } = open(createStubA, { profile: "a", tools: [tool], payloadMax: 1_024 });
  for (const [index, length] of [0, 1, 121, 122, 123, 124, 1_023].entries()) {
    const call = callDevice(stub, tool, {}, undefined);
    const result = Buffer.alloc(length, 0x7e);
    say(encodeFrameA({ type: 2, tool: 7, seq: index + 1, payload: Uint8Array.of(0, ...result) }, 16));
    expect(await call, `${length} bytes`).toMatchObject({
      structuredContent: { data: result.toString("base64") },
    });
  }
});

test("[AX-B-1] an answer behind one that was cut off is read once the line is silent, not when the call is given up", async () => {
  const tool: ToolConfig = { ...toolOf("u8"), timeoutMs: 20_000 };
  const { stub, say } = open(createStubA, { profile: "a", tools: [tool] });
  const call = callDevice(stub, tool, { percent: 50 }, undefined);
  const answer = encodeFrameA({ type: 2, tool: 200, seq: 1, payload: Uint8Array.of(0, 50) }, 16);
  say(Uint8Array.of(0x7e, 0x40, 0x02, 200, ...answer));
  expect(await call).toMatchObject({ structuredContent: { percent: 50 } });
});

test.each([
  ["raw", [{ name: "data", type: "bytes" }], { data: Buffer.alloc(9).toString("base64") }, 8],
  ["raw", [{ name: "data", type: "bytes" }], { data: Buffer.alloc(1_025).toString("base64") }, 1_024],
  ["tlv", [{ name: "label", type: "text", tag: 1 }], { label: "x".repeat(300) }, 1_024],
] as const)(
  "[AX-B-7] arguments of %s that no payload holds are refused before anything is sent",
  async (layout, fields, args, payloadMax) => {
    const tool: ToolConfig = { id: 7, name: "write", layout, arguments: fields };
    const { stub, sent } = open(createStubA, { profile: "a", tools: [tool], payloadMax });
    expect(await callDevice(stub, tool, args, undefined)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`a payload has at most ${payloadMax} bytes`) }],
    });
    expect(sent).toEqual([]);
  },
);

test("[AX-8.1-5] a message over a broker has at most 4096 bytes: more is refused before anything is sent", async () => {
  const tool: ToolConfig = { id: 7, name: "write", arguments: [{ name: "text", type: "text" }] };
  const { stub, sent, say } = open(createStubB, { profile: "b", encoding: "json", tools: [tool] });
  const [who, types] = [Uint8Array.of(1), Uint8Array.of(5, 3)].map((bytes) =>
    Buffer.from(bytes).toString("base64"),
  );
  say(Buffer.from(JSON.stringify({ method: -1, params: { 0: 1, 1: who, 2: 1_024, 4: { 7: types } } })));
  const call = (text: string) => callDevice(stub, tool, { text }, undefined);
  // As CBOR each of these characters has one byte, in JSON six.
  expect(await call("\u0001".repeat(1_000))).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("a message has at most 4096 bytes") }],
  });
  expect(sent).toEqual([]);
  // Control: what is no longer than that is sent.
  void call("x".repeat(1_000));
  expect(sent).toHaveLength(1);
  stub.conversation.use(undefined);
});
