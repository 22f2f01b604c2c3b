import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { expect, test } from "vitest";
import { readLines } from "./read-lines.ts";

async function linesOf(chunks: readonly (string | Buffer)[], charsMax: number, isDropped = false) {
  const stream = new PassThrough();
  const lines: string[] = [];
  readLines(stream, charsMax, (line) => lines.push(line), isDropped ? () => lines.push("(long)") : undefined);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await finished(stream);
  return lines;
}

test("lines are whole however they are cut, the last one too", async () => {
  const text = Buffer.from("äb\r\n\ncd\nlast");
  const bytes = Array.from(text, (_, index) => text.subarray(index, index + 1));
  expect(await linesOf(bytes, 100)).toEqual(["äb", "cd", "last"]);
  expect(await linesOf([text], 100)).toEqual(["äb", "cd", "last"]);
});

test("a line past the bound is cut, or dropped and told of once", async () => {
  expect(await linesOf(["abc", "def", "ghi\nx\n"], 5)).toEqual(["abcde", "x"]);
  expect(await linesOf(["abc", "def", "ghi\nx\n"], 5, true)).toEqual(["(long)", "x"]);
});
