import { expect, test } from "vitest";
import { boundedLabel } from "./bounded-label.ts";

test("a label has so many values and no more, and what was itself once stays itself", () => {
  const label = boundedLabel(2);
  expect(["a", "b", "c", "a", "d", "b"].map(label)).toEqual(["a", "b", "other", "a", "other", "b"]);
});
