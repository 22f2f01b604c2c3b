// A grant for these arguments lets exactly these go, as they are sent: with what the operator has fixed, whoever has
// fixed it when.
import { digestOf, type JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { overridesOf } from "../../testing/overrides-of.ts";
import { type SignedScene, signedScene } from "../testing/signed-calls.ts";
import { addGrant } from "./grants.ts";

const fixing = (to: string) => ({ overrides: overridesOf({ wipe: { arguments: { to } } }) });

async function granted(args: JsonObject, scene = signedScene({ server: fixing("A") })): Promise<SignedScene> {
  const argumentsDigest = await digestOf(args);
  addGrant(
    scene.gates.grants,
    {
      id: "g",
      principal: "agent",
      tools: "s.wipe",
      argumentsDigest,
      usesLeft: 2,
      grantedBy: "root",
      reason: "test",
    },
    0,
  );
  return scene;
}

const call = ({ ask }: SignedScene, args: JsonObject) =>
  ask("tools/call", { name: "s.wipe", arguments: args });
const isStopped = async (asked: Promise<JsonObject>) =>
  ((await asked).structuredContent as JsonObject | undefined)?.status === "confirmation_required";

test("a grant counts for the arguments with those that are fixed, and these are sent", async () => {
  const scene = await granted({ n: 1, to: "A" });
  expect(await isStopped(call(scene, { n: 1 }))).toBe(false);
  // What the caller says of a fixed argument is not sent, and makes no difference.
  expect(await isStopped(call(scene, { n: 1, to: "B" }))).toBe(false);
  expect(scene.arrived()).toEqual([
    { name: "wipe", arguments: { n: 1, to: "A" } },
    { name: "wipe", arguments: { n: 1, to: "A" } },
  ]);
  // Used up.
  expect(await isStopped(call(scene, { n: 1 }))).toBe(true);
});

test("a grant for what the caller would say alone covers nothing where an argument is fixed", async () => {
  const scene = await granted({ n: 1 });
  expect(await isStopped(call(scene, { n: 1 }))).toBe(true);
  expect(scene.arrived()).toEqual([]);
});

test("an argument that is fixed otherwise since is no longer granted", async () => {
  const scene = await granted({ n: 1, to: "A" });
  scene.configure(fixing("B"));
  for (const args of [{ n: 1 }, { n: 1, to: "A" }]) expect(await isStopped(call(scene, args))).toBe(true);
  scene.configure({ overrides: undefined });
  // Not fixed any more: the caller says it, and it is what was granted.
  expect(await isStopped(call(scene, { n: 1, to: "A" }))).toBe(false);
  expect(scene.arrived()).toEqual([{ name: "wipe", arguments: { n: 1, to: "A" } }]);
});

test("a tool that was renamed between the list and the call is called by no grant for its old name", async () => {
  const scene = await granted({ n: 1, to: "A" });
  await scene.ask("tools/list");
  scene.configure({ overrides: overridesOf({ wipe: { name: "erase", arguments: { to: "A" } } }) });
  // The server's own name leads to it still, and to the gate of its new name.
  expect(await isStopped(call(scene, { n: 1 }))).toBe(true);
  expect(await isStopped(scene.ask("tools/call", { name: "s.erase", arguments: { n: 1 } }))).toBe(true);
  expect(scene.arrived()).toEqual([]);
});
