import { expect, test } from "vitest";
import { robotTools } from "./demo-tools.ts";
import { wishes } from "./run-agent.ts";

test("what the demo's robot says of every wish is English", () => {
  const move = robotTools.find(({ item }) => item.name === "move_part");
  expect(wishes.map(({ args }) => move?.run(args))).toEqual([
    "The blue gear is on the bench now (0.5 m/s).",
    "The blue gear is on the shelf now (2.5 m/s).",
    "The offcut is in the bin now (0.5 m/s).",
  ]);
});
