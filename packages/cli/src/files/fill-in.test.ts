import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fillIn } from "./fill-in.ts";

const dir = mkdtempSync(join(tmpdir(), "mcpx-fill-in-"));
afterAll(() => rmSync(dir, { recursive: true }));
writeFileSync(join(dir, "key"), "s3cret\n");
const from = { dir, env: { TOKEN: "abc", EMPTY: "" } };

test.each([
  ["plain", "plain"],
  ["Bearer ${env:TOKEN}", "Bearer abc"],
  ["${env:TOKEN}${env:EMPTY}${file:key}!", "abcs3cret!"],
  ["$HOME ${HOME} ${input:x} ${", "$HOME ${HOME} ${input:x} ${"],
  ["${env:TOKEN", "${env:TOKEN"],
])("%j is filled in as %j", (text, expected) => {
  expect(fillIn(text, from)).toBe(expected);
});

test("what is missing is named, and nothing is guessed", () => {
  expect(() => fillIn("${env:NOPE}", from)).toThrow(/NOPE is not set/);
  expect(() => fillIn("${file:nope}", from)).toThrow(/nope cannot be read \(ENOENT\)/);
});

test("what was filled in is not looked at again", () => {
  expect(fillIn("${env:A}", { dir, env: { A: "${env:TOKEN}" } })).toBe("${env:TOKEN}");
});
