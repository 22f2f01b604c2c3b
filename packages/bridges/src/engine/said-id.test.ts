import { isId } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { isSaidHere, saidId } from "./said-id.ts";

const secret = new Uint8Array(32).fill(7);
const place = { bridge: "team", channel: "general", participant: "alice" };

test("the same message has the same id, another place or message another", () => {
  const id = saidId(secret, place, "m1");
  expect(isId(id)).toBe(true);
  expect(saidId(secret, place, "m1")).toBe(id);
  expect(saidId(secret, place, "m2")).not.toBe(id);
  expect(saidId(secret, { ...place, channel: "other" }, "m1")).not.toBe(id);
});

test("nobody else can make an id that hides an envelope from the channel", () => {
  const id = saidId(secret, place, "m1");
  expect(isSaidHere(secret, place, id)).toBe(true);
  expect(isSaidHere(secret, { ...place, participant: "mallory" }, id)).toBe(false);
  expect(isSaidHere(secret, { ...place, channel: "other" }, id)).toBe(false);
  expect(isSaidHere(secret, place, saidId(new Uint8Array(32), place, "m1"))).toBe(false);
  for (const odd of ["", "said-1-2", `${id}0`, "x"]) expect(isSaidHere(secret, place, odd)).toBe(false);
});
