import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { socketBounds } from "./socket-bounds.ts";

test("where the system sets no bound, or a wide one, the limits count", () => {
  const asConfigured = { max: 7_000, strangersMax: 1_000, perPrincipalMax: 2_000 };
  expect(socketBounds(defaultLimits, Number.POSITIVE_INFINITY)).toEqual(asConfigured);
  expect(socketBounds(defaultLimits, 20_000)).toEqual(asConfigured);
});

test("where a process may have few files open, strangers and each principal have a part of what there is", () => {
  expect(socketBounds(defaultLimits, 1_024)).toEqual({ max: 768, strangersMax: 110, perPrincipalMax: 220 });
  expect(socketBounds({ ...defaultLimits, strangerSocketsMax: 5 }, 1_024).strangersMax).toBe(5);
});
