import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createSeal } from "./seal.ts";

const key = randomBytes(32);
const secret = "geheim: ä\u0000 😀";

test("a secret comes back, and nothing of it is to be seen, nor that two are the same", () => {
  const seal = createSeal(key);
  const sealed = seal.close(secret, "keys a");
  expect(createSeal(key).open(sealed, "keys a")).toBe(secret);
  expect(Buffer.from(sealed.slice(3), "base64url").toString()).not.toContain("geheim");
  expect(seal.close(secret, "keys a")).not.toBe(sealed);
  expect(seal.open(seal.close("", "keys a"), "keys a")).toBe("");
});

test("another key, another place and every changed character are refused", () => {
  const seal = createSeal(key);
  const sealed = seal.close(secret, "keys a");
  const fault = /the secret keys \w was sealed with another key, or changed/;
  expect(() => createSeal(randomBytes(32)).open(sealed, "keys a")).toThrow(fault);
  expect(() => seal.open(sealed, "keys b")).toThrow(fault);
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === "A" ? "B" : "A";
    expect(() => seal.open(sealed.slice(0, at) + other + sealed.slice(at + 1), "keys a")).toThrow(fault);
  }
  for (const short of ["", "s1.", sealed.slice(0, 20)])
    expect(() => seal.open(short, "keys a")).toThrow(fault);
});

test("a short key is none", () => {
  expect(() => createSeal(randomBytes(31))).toThrow(/fewer than 32 bytes/);
});
