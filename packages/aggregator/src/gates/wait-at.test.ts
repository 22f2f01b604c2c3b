// A call that is held costs nothing but its place: its gate is looked at when something has become of it, not in between.

import { createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { createSqliteGateStore } from "./store/gate-store-sqlite.ts";
import { signedScene, type Terms } from "./testing/signed-calls.ts";

/** How often the store was asked while a call was held so long, and then while it was told what became of it. */
async function looksWhileHeld(heldMs: number): Promise<[held: number, after: number]> {
  const store = createSqliteGateStore({ db: openTreeState(), clock: createManualClock() });
  let looks = 0;
  const counting = {
    ...store,
    find: (id: string) => {
      looks += 1;
      return store.find(id);
    },
  };
  const scene = signedScene({ store: counting });
  const terms: Terms = await scene.stop();
  const { confirmation_id } = terms;
  looks = 0;
  const args = { confirmation_id, timeout_ms: 60_000 };
  const told = scene.ask("tools/call", { name: "mcpax.wait", arguments: args });
  await new Promise((resolve) => setTimeout(resolve, heldMs));
  const held = looks;
  await scene.approve(terms);
  expect(await told).not.toHaveProperty("structuredContent.status");
  return [held, looks - held];
}

test("[B-CLIENT-1] a held call is looked at no more often the longer it is held, and ends as soon as it is decided", async () => {
  const [short, long] = await Promise.all([looksWhileHeld(20), looksWhileHeld(1_000)]);
  expect(long).toEqual(short);
  expect(long[0]).toBeLessThan(5);
});
