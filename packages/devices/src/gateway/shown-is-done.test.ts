// What a person has read and signed is what the device gets, or it gets nothing: numbers, bytes and their order.
import { parseExact } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { encodeFrameA } from "../framing/frame-a.ts";
import type { Field } from "../tools/field.ts";
import { callDevice } from "./call-device.ts";
import type { DeviceConfig, ToolConfig } from "./device-config.ts";
import { createStubA } from "./stub-a.ts";

const ignore = () => {};
const quietly = { dropped: ignore, heard: ignore, said: ignore, restarted: ignore, replaced: ignore };

/** The frame that a device is sent for these arguments, as they stood in the request; or why none is. */
async function sentFor(fields: readonly Field[], argumentsText: string): Promise<string> {
  const tool: ToolConfig = { id: 7, name: "set", arguments: [...fields], result: [], timeoutMs: 1_000 };
  const sent: Buffer[] = [];
  const config = { segment: "lamp", profile: "a", tools: [tool] } as DeviceConfig;
  const stub = createStubA(config, quietly);
  stub.readLine();
  stub.conversation.use({ write: (bytes) => sent.push(Buffer.from(bytes)) > 0, close: ignore });
  const leaving = new AbortController();
  const call = callDevice(stub, tool, parseExact(argumentsText), leaving.signal);
  const [frame] = sent;
  if (frame === undefined) {
    const { content } = (await call) as { content: { text: string }[] };
    return content[0]?.text ?? "";
  }
  leaving.abort();
  await call.catch(ignore);
  return frame.toString("hex");
}

/** On the line, after what makes the device forget half a frame. */
function frameOf(payloadHex: string): string {
  const payload = Buffer.from(payloadHex, "hex");
  const frame = encodeFrameA({ type: 1, tool: 7, seq: 1, payload }, 16);
  return Buffer.concat([new Uint8Array(16), frame]).toString("hex");
}

const field = (type: Field["type"], more: Partial<Field> = {}): Field => ({ name: "n", type, ...more });

test.each<[string, Field, string, string]>([
  ["one", field("u8"), '{"n":1}', "01"],
  ["one, written otherwise", field("u8"), '{"n":1.0}', "01"],
  ["one, with an exponent", field("u8"), '{"n":1e0}', "01"],
  ["the last of two equal keys, as it is shown", field("u8"), '{"n":9,"n":1}', "01"],
  ["a step of the scale", field("i16", { scale: 0.1 }), '{"n":21.5}', "00d7"],
  ["a fraction, as near as it can be", field("f32"), '{"n":0.1}', "3dcccccd"],
  ["the largest whole number that is kept", field("f32"), '{"n":16777216}', "4b800000"],
  ["bytes", field("bytes", { length: 1 }), '{"n":"QQ=="}', "41"],
])("arrives: %s", async (_, one, text, payload) => {
  expect(await sentFor([one], text)).toBe(frameOf(payload));
});

test.each<[string, Field, string, RegExp]>([
  ["a number that would be rounded when it is read", field("f32"), '{"n":9007199254740993}', /more digits/],
  ["a fraction that would be rounded", field("u8"), '{"n":1.0000000000000000001}', /more digits/],
  ["an exponent nobody can count with", field("f32"), '{"n":1e-9999999999999999}', /more digits/],
  ["half a step of the scale", field("i16", { scale: 0.1 }), '{"n":21.53}', /is 21.53, and .* get 21.5/],
  ["what would become nothing", field("i16", { scale: 10 }), '{"n":4}', /is 4, and the device would get 0/],
  ["a whole number a float cannot hold", field("f32"), '{"n":16777217}', /would get 16777216/],
  ["a fraction too small for a float", field("f32"), '{"n":1e-50}', /would get 0/],
  ["bytes in another spelling", field("bytes", { length: 1 }), '{"n":"QR=="}', /not base64/],
  ["a name that only looks the same", field("u8", { name: "é" }), '{"e\u0301":1}', /is not known/],
])("is refused, and nothing is sent: %s", async (_, one, text, why) => {
  expect(await sentFor([one], text)).toMatch(why);
});

test("arguments go in the order of the configuration, whatever the order of their names", async () => {
  const fields = [field("u8", { name: "a" }), field("u8", { name: "b" })];
  expect(await sentFor(fields, '{"b":2,"a":1}')).toBe(frameOf("0102"));
});
