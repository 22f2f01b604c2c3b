import { expect, test } from "vitest";
import { treeWord, upward, withOrigin } from "./upward.ts";

const plain = { segment: "edge", isTree: false };
const tree = { segment: "edge", isTree: true };
const routed = (...route: string[]) => ({ _meta: { "x-mcpax-route": route } });

test("[AX-12-1] a notification carries its origin, and the loggers of two servers are told apart", () => {
  expect(upward(plain, "notifications/message", { level: "info", logger: "app", data: 1 })).toEqual({
    method: "notifications/message",
    params: { level: "info", logger: "edge.app", data: 1, ...routed("edge") },
  });
  expect(upward(tree, "notifications/message", { data: 1, ...routed("stm32") }).params).toEqual({
    data: 1,
    ...routed("edge", "stm32"),
  });
});

test("[AX-12-1] methods that are none of MCP's get the dotted prefix, level after level", () => {
  expect(upward(plain, "notifications/foo", {}).method).toBe("edge.notifications/foo");
  expect(upward(tree, "stm32.notifications/foo", {}).method).toBe("edge.stm32.notifications/foo");
  expect(upward({ segment: undefined, isTree: true }, "s.notifications/foo", routed("s"))).toEqual({
    method: "s.notifications/foo",
    params: routed("s"),
  });
});

test("only a tree's route is continued, and only where it is one", () => {
  expect(upward(plain, "notifications/message", routed("forged")).params).toEqual(routed("edge"));
  for (const route of [["a", 1], "a", [["a"]], ["A b"], Array(128).fill("a")]) {
    const params = { _meta: { "x-mcpax-route": route } };
    expect(upward(tree, "notifications/message", params).params).toEqual(routed("edge"));
  }
});

test("[AX-12-3] event ids and causal parents stay as they are, wherever they stand", () => {
  const ids = { "x-mcpax-event-id": "5f0c…", "x-mcpax-causal-parent": null };
  expect(upward(tree, "notifications/message", { ...ids, _meta: { ...ids, other: [1] } }).params).toEqual({
    ...ids,
    _meta: { ...ids, other: [1], "x-mcpax-route": ["edge"] },
  });
});

test("[AX-12-4] what a tree says of a server below it names that from here", () => {
  const word = treeWord("edge", { segment: "stm32", reason: "subserver_unreachable", ...routed("forged") });
  expect(withOrigin(word ?? {})).toEqual({
    segment: "edge.stm32",
    reason: "subserver_unreachable",
    ...routed("edge", "stm32"),
  });
  expect(treeWord("edge", { segment: "" })).toEqual({ segment: "edge" });
  for (const segment of [undefined, 7, "A", "a..b", "x".repeat(300)]) {
    expect(treeWord("edge", { segment })).toBeUndefined();
  }
});
