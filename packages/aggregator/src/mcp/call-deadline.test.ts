import { harmless, type JsonObject, type LatencyClass } from "@mcpx/protocol";
import { expect, onTestFinished, test, vi } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";

/** A tree with one tool of this class, which never answers. */
function hanging(latency_class: LatencyClass) {
  const server = inProcessServer({
    tools: [
      {
        name: "t",
        inputSchema: { type: "object" },
        _meta: { "x-mcpax-capability": { ...harmless, latency_class } },
      },
    ],
    handle: ({ method, signal }) =>
      method === "tools/call"
        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
        : (undefined as never),
  });
  return testTree([serverOptions("s", server.open, { isTrusted: true })]);
}

/** What has become of it so far. */
function watched(call: Promise<JsonObject>): () => string {
  let state = "under way";
  call.then(
    () => (state = "answered"),
    (error: { code: string; detail: string }) => (state = `${error.code}: ${error.detail}`),
  );
  return () => state;
}

function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

test.each([
  ["realtime", 500],
  ["fast", 5_000],
  ["standard", 30_000],
  ["slow", 120_000],
] as const)("[AX-7.3-1] a %s tool has %i ms, not one less and not one more", async (latency, ms) => {
  const { ask } = hanging(latency);
  await ask("tools/list");
  fakeTimers();
  const state = watched(ask("tools/call", { name: "s.t" }));
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(state()).toBe("under way");
  await vi.advanceTimersByTimeAsync(1);
  expect(state()).toBe(`timeout: s did not answer tools/call within ${ms} ms`);
});

test("[AX-7.3-1] a batch tool has as long as its caller waits", async () => {
  const { ask } = hanging("batch");
  await ask("tools/list");
  fakeTimers();
  const caller = new AbortController();
  const state = watched(ask("tools/call", { name: "s.t" }, { signal: caller.signal }));
  await vi.advanceTimersByTimeAsync(7 * 24 * 3_600_000);
  expect(state()).toBe("under way");
  caller.abort(Object.assign(new Error(), { code: "left", detail: "by the caller" }));
  await vi.advanceTimersByTimeAsync(0);
  expect(state()).toBe("left: by the caller");
});
