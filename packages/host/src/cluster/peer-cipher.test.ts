import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createPeerCipher, isProof, proofOf } from "./peer-cipher.ts";

const secret = randomBytes(32);
const hellos = { dialler: "ada 1", listener: "bob 2" };

function pair(theirs: Uint8Array = secret, theirHellos = hellos) {
  return {
    ada: createPeerCipher(secret, hellos, "dialler"),
    bob: createPeerCipher(theirs, theirHellos, "listener"),
  };
}

const text = (of: Buffer) => of.toString();

test("what one seals the other opens, in both directions and in order", () => {
  const { ada, bob } = pair();
  for (const word of ["one", "two", ""]) {
    expect(text(bob.open(ada.seal(Buffer.from(word))))).toBe(word);
    expect(text(ada.open(bob.seal(Buffer.from(word))))).toBe(word);
  }
  expect(text(ada.seal(Buffer.from("secret")))).not.toContain("secret");
});

test("a message that was changed, repeated, left out, sent back or made elsewhere is refused", () => {
  const fault = /changed, repeated, or is not the next one/;
  const sealed = () => {
    const { ada, bob } = pair();
    return { ada, bob, first: ada.seal(Buffer.from("first")), second: ada.seal(Buffer.from("second")) };
  };
  const changed = sealed();
  changed.first[0] = (changed.first[0] as number) ^ 1;
  expect(() => changed.bob.open(changed.first)).toThrow(fault);
  const repeated = sealed();
  repeated.bob.open(repeated.first);
  expect(() => repeated.bob.open(repeated.first)).toThrow(fault);
  const leftOut = sealed();
  expect(() => leftOut.bob.open(leftOut.second)).toThrow(fault);
  const sentBack = sealed();
  expect(() => sentBack.ada.open(sentBack.first)).toThrow(fault);
  const elsewhere = pair(randomBytes(32));
  expect(() => elsewhere.bob.open(elsewhere.ada.seal(Buffer.from("x")))).toThrow(fault);
  const anotherTime = pair(secret, { ...hellos, listener: "bob 3" });
  expect(() => anotherTime.bob.open(anotherTime.ada.seal(Buffer.from("x")))).toThrow(fault);
  expect(() => pair().bob.open(Buffer.alloc(15))).toThrow("too short");
});

test("a proof is of these texts, divided as they are, and of this secret", () => {
  const proof = proofOf(secret, "a", "bc");
  expect(isProof(proof, secret, "a", "bc")).toBe(true);
  expect(isProof(proof, secret, "ab", "c")).toBe(false);
  expect(isProof(proof, randomBytes(32), "a", "bc")).toBe(false);
  for (const other of [undefined, "", `${proof}A`]) expect(isProof(other, secret, "a", "bc")).toBe(false);
});
