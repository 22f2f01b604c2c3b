import { treeNotifications } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { isPassable, rooted, treeWord, upward, withOrigin } from "./upward.ts";

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

test("[AX-3.1-1] [AX-12-1] at a root with a segment of its own everything begins with that", () => {
  const log = upward(plain, "notifications/message", { logger: "app" });
  expect(rooted("infra", log).params).toEqual({ logger: "infra.edge.app", ...routed("infra", "edge") });
  expect(rooted("infra", upward(tree, "stm32.notifications/alarm", routed("stm32")))).toEqual({
    method: "infra.edge.stm32.notifications/alarm",
    params: routed("infra", "edge", "stm32"),
  });
  const lost = { method: treeNotifications.subserverLost, params: { segment: "edge" } };
  expect(rooted("infra", lost)).toEqual({
    ...lost,
    params: { segment: "infra.edge", ...routed("infra", "edge") },
  });
  expect(rooted(undefined, log)).toBe(log);
});

test("[AX-12-1] a name that could be taken for one of MCP's, or cannot be shown, is not passed on", () => {
  for (const good of ["notifications/alarm", "a.b.notifications/x_1", "notifications/cancelled", "$/note"]) {
    expect(isPassable(good), good).toBe(true);
  }
  const bad = [
    "",
    "Notifications/Cancelled",
    "notifications/MESSAGE",
    "a b",
    "a\u0000",
    "a\n",
    "é",
    "x".repeat(513),
  ];
  for (const one of bad) expect(isPassable(one), one).toBe(false);
});
