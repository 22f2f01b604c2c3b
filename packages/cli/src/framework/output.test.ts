import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { columns, createOutput, widthLeft } from "./output.ts";

test("JSON that a command prints steers no terminal, and means the same", async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const value = { actor: "a\u009b31m\u202e\u{e0041}\u200b👩‍💻", detail: { "k\u2028": ["\ud800"] } };
  createOutput({ stdout, stderr }).json(value);
  stdout.end();
  const line = await text(stdout);
  expect(line.replace("👩‍💻", "")).toMatch(/^[ -~]+\n$/);
  expect(JSON.parse(line)).toEqual(value);
});

test.each([60, 100, 180])(
  "a table has the width of a terminal of %i columns, and one column gives way",
  (width) => {
    const [stdout, stderr] = [Object.assign(new PassThrough(), { columns: width }), new PassThrough()];
    const output = createOutput({ stdout, stderr });
    const rows = [
      ["files.read", "x".repeat(300), "files"],
      ["a", "y", "b"],
    ];
    const cellWidth = widthLeft(1, rows, output.width);
    const lines = columns(
      rows.map(([name = "", about = "", from = ""]) => [name, about.slice(0, cellWidth), from]),
    );
    expect(lines[0]).toHaveLength(width);
  },
);

test("a column that would have no room keeps some; what is no terminal is wide", () => {
  expect(widthLeft(0, [["about", "z".repeat(90)]], 80)).toBe(24);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  expect(createOutput({ stdout, stderr }).width).toBe(160);
});
