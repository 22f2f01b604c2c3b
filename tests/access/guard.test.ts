// The guard and its callers over real sockets, as people use them.
import { requestCapability } from "@mcpx/client/guard";
import { expect, test } from "vitest";
import { rejection, textOf } from "../client/support/house.ts";
import { annMayHeat, startKitchen } from "./support/guarded-kitchen.ts";

const heat = { degrees: 180 };

test("[AC-1-2] [AC-2-1] [AC-3-1] [AC-4-1] who a rule allows asks, gets and carries a capability by itself", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const ann = await kitchen.enter("ann");
  expect(textOf(await ann.room.peer("oven").callTool("heat", heat))).toBe("180 degrees");
  expect(textOf(await ann.room.peer("oven").callTool("heat", heat))).toBe("180 degrees");
  expect(kitchen.done).toEqual(["heat 180", "heat 180"]);
  expect(kitchen.events.map(({ type, reason }) => reason ?? type)).toEqual([
    "missing",
    "granted",
    "used",
    "used",
  ]);
  expect(await kitchen.guard.grants()).toMatchObject([
    { holder: "ann", tools: ["heat"], uses: 2, isRevoked: false },
  ]);
});

test("[AC-1-2] [AC-2-2] who no rule allows is refused, with a way out", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const bob = await kitchen.enter("bob");
  const error = await rejection(bob.room.peer("oven").callTool("heat", heat));
  expect(error).toMatchObject({ code: -32003, reason: "grant_refused" });
  expect(kitchen.done).toEqual([]);
  const grant = await rejection(requestCapability(bob.room, "oven", { tools: "*" }));
  expect(grant).toMatchObject({ code: -32003, reason: "grant_refused" });
});
