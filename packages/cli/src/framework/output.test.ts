import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createOutput } from "./output.ts";

test("JSON that a command prints steers no terminal, and means the same", async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const value = { actor: "a\u009b31m\u202e\u{e0041}\u200b👩‍💻", detail: { "k\u2028": ["\ud800"] } };
  createOutput({ stdout, stderr }).json(value);
  stdout.end();
  const line = await text(stdout);
  expect(line.replace("👩‍💻", "")).toMatch(/^[ -~]+\n$/);
  expect(JSON.parse(line)).toEqual(value);
});
