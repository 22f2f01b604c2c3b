import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createUnsealedKey } from "../files/key-file.ts";
import { defaultGates, gateSettings } from "./gate-settings.ts";

const pair = () => generateKeyPairSync("ed25519");
const publicJwk = () => ({ ...pair().publicKey.export({ format: "jwk" }) });
const here = { dir: "." };

test("without a word in the configuration gates are on, and ask", () => {
  expect(gateSettings({}, here)).toEqual(defaultGates);
  expect(defaultGates).toMatchObject({ rules: [], unannotated: "ask", quorum: 1 });
});

test("times are held as they are written; where nobody is held, nobody is", () => {
  expect(gateSettings({ gates: { hold: 0, timeout: 60_000 } }, here)).toMatchObject({
    ttlMs: 60_000,
    holdMs: 0,
    holdWithProgressMs: 0,
  });
  expect(gateSettings({ gates: { hold: 60_000 } }, here)).toMatchObject({ holdWithProgressMs: 60_000 });
  expect(gateSettings({ gates: { hold: 1_000 } }, here)).toMatchObject({ holdWithProgressMs: 25_000 });
});

test("anchors are people by key or key file, policy engines and services", () => {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-anchors-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  createUnsealedKey(join(dir, "bob.jwk"));
  const anchors = [
    { name: "alice", jwk: publicJwk() },
    { name: "bob", keyFile: "bob.jwk" },
    { name: "policy", policy: { keys: [publicJwk(), publicJwk()] } },
    { issuer: "https://approve.example.com", jwks: { keys: [publicJwk()] } },
  ];
  const { anchors: keys } = gateSettings({ gates: { anchors } }, { dir });
  expect(keys.map(({ kind, name }) => [kind, name])).toEqual([
    ["key", "alice"],
    ["key", "bob"],
    ["policy", "policy"],
    ["policy", "policy"],
    ["service", "https://approve.example.com"],
  ]);
});

test("private keys and names that look alike are refused", () => {
  const secret = { ...pair().privateKey.export({ format: "jwk" }) };
  expect(() => gateSettings({ gates: { anchors: [{ name: "alice", jwk: secret }] } }, here)).toThrow(
    "gates.anchors[0]: alice has no public Ed25519 or P-256 key; never put a private key here",
  );
  const twins = [
    { name: "alice", jwk: publicJwk() },
    { name: "A1ice", jwk: publicJwk() },
  ];
  expect(() => gateSettings({ gates: { anchors: twins } }, here)).toThrow("looks like alice");
});
