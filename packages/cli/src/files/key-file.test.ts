import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createUnsealedKey, readKeyFile } from "./key-file.ts";

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-cli-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test("a key is its owner's alone, and only its public part is ever given back", () => {
  const path = join(scratch(), "keys", "default.jwk");
  const made = createUnsealedKey(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(path, "utf8"))).toHaveProperty("d");
  expect(made).not.toHaveProperty("d");
  expect(readKeyFile(path)).toEqual(made);
});

test("an existing key is never overwritten", () => {
  const path = join(scratch(), "a.jwk");
  createUnsealedKey(path);
  const before = readFileSync(path, "utf8");
  expect(() => createUnsealedKey(path)).toThrow(/already; choose another with --out/);
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("a public key alone is a key file too", () => {
  const dir = scratch();
  const key = createUnsealedKey(join(dir, "a.jwk"));
  writeFileSync(join(dir, "public.jwk"), JSON.stringify(key));
  expect(readKeyFile(join(dir, "public.jwk"))).toEqual(key);
});

test("what is no key is refused without quoting it", () => {
  const path = join(scratch(), "secret.txt");
  for (const text of ["hunter2", '{"d":"hunter2"', "[]", '{"kty":"oct","k":"hunter2"}']) {
    writeFileSync(path, text);
    const reading = () => readKeyFile(path);
    expect(reading).toThrow(/holds no Ed25519 or P-256 key/);
    expect(reading).not.toThrow(/hunter2/);
  }
  expect(() => readKeyFile(`${path}.none`)).toThrow(/cannot be read \(ENOENT\); make one with mcpx key new/);
});
