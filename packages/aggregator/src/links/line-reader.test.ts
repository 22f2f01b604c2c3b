import fc from "fast-check";
import { expect, test } from "vitest";
import { LineReader } from "./line-reader.ts";

function linesOf(chunks: readonly (string | Buffer)[], bytesMax: number, breaksAtCr = false): string[] {
  const lines: string[] = [];
  const reader = new LineReader(bytesMax, { line: (text) => lines.push(text) }, breaksAtCr);
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return lines;
}

function bytesOf(text: string): Buffer[] {
  const whole = Buffer.from(text);
  return Array.from(whole, (_, index) => whole.subarray(index, index + 1));
}

test("lines are whole however they are cut, the last one too", () => {
  const text = "äb\r\n\ncd\nlast";
  for (const chunks of [[text], bytesOf(text)]) {
    expect(linesOf(chunks, 100)).toEqual(["äb", "", "cd", "last"]);
  }
});

test("an event stream may end its lines in three ways", () => {
  const text = "a\rb\r\nc\n\r\nd\r\re\r";
  for (const chunks of [[text], bytesOf(text)]) {
    expect(linesOf(chunks, 100, true)).toEqual(["a", "b", "c", "", "d", "", "e"]);
  }
});

test("a line past the bound is cut where nobody asked to be told", () => {
  expect(linesOf(["abc", "def", "ghi\nx\n"], 5)).toEqual(["abcde", "x"]);
  expect(linesOf(["abcdef\nabcde\nx"], 5)).toEqual(["abcde", "abcde", "x"]);
});

test("whoever asked is told of it at once, and at its end what it began and ended with", () => {
  const news: string[] = [];
  const reader = new LineReader(1_000, {
    line: (text) => news.push(text),
    long: () => news.push("(long)"),
    longOver: (head, tail) =>
      news.push(`${head.slice(0, 6)}…${tail.slice(-6)} ${head.length} ${tail.length}`),
  });
  reader.push(Buffer.from(`start:${"x".repeat(900)}`));
  expect(news).toEqual([]);
  reader.push(Buffer.from("y".repeat(900)));
  expect(news).toEqual(["(long)"]);
  for (const byte of bytesOf("z:the end\nnext\n")) reader.push(byte);
  expect(news).toEqual(["(long)", "start:…he end 512 512", "next"]);
});

test("lines are the same however the bytes come", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(200)), (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll("\n", "")).filter((text) => text.trim() !== "");
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      expect(linesOf(chunks, 10_000)).toEqual(lines);
    }),
  );
});

test("a line that is no UTF-8 is told to whoever asked, and the next one read", () => {
  const news: string[] = [];
  const reader = new LineReader(5, {
    line: (text) => news.push(text),
    long: () => news.push("(long)"),
    unreadable: () => news.push("(unreadable)"),
  });
  reader.push(Buffer.from([0xc3, 0x28, 0x0a, 0x61, 0x0a]));
  for (const text of ["abc", "def", "ghi\nok", "\n12345\n123456\nend\n"]) reader.push(Buffer.from(text));
  expect(news).toEqual(["(unreadable)", "a", "(long)", "ok", "12345", "(long)", "end"]);
  expect(linesOf([Buffer.from([0xc3, 0x28])], 5)).toEqual(["\ufffd("]);
});
