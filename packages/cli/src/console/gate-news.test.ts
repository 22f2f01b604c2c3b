import type { HttpRequest } from "@mcpx/host";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createGateNews, type WatchedGates } from "./gate-news.ts";
import type { Session } from "./sessions.ts";

const session = { id: "one" } as Session;

function newsOf(gates: WatchedGates) {
  const news = createGateNews({ gates, check: () => session });
  return (lastId?: string) => {
    const told: string[] = [];
    let leave = () => {};
    const request = {
      headers: { "last-event-id": lastId },
      onGone: (callback: () => void) => {
        leave = callback;
      },
    } as unknown as HttpRequest;
    const { stream } = news.open(session, request);
    stream?.({
      isBehind: false,
      waitingBytes: 0,
      write: (text) => told.push(...text.split("\n\n").filter((event) => event.includes("data:"))) > 0,
      end: () => undefined,
      onDrain: () => undefined,
    });
    const position = () => /^id: (\S+)$/m.exec(told.at(-1) ?? "")?.[1];
    const data = () => told.map((event) => JSON.parse(/^data: (.+)$/m.exec(event)?.[1] ?? "null"));
    return { data, position, leave: () => leave() };
  };
}

let gates: WatchedGates & { isPanic: boolean };

beforeEach(() => {
  vi.useFakeTimers();
  const nothing = { anchors: [], rules: [], unannotated: "ask", quorum: 1, grants: new Map() };
  gates = { watchers: new Set(), isPanic: false, ...nothing } as unknown as typeof gates;
});

afterEach(() => {
  vi.useRealTimers();
});

test("[B-AUDIT-1] panic while nobody listens is told at once to a page that comes back, and only once", () => {
  const listen = newsOf(gates);
  const first = listen();
  const lastId = first.position();
  first.leave();
  gates.isPanic = true;
  const back = listen(lastId);
  expect(back.data()).toEqual([{ all: true }]);
  const fresh = listen();
  expect(fresh.data()).toEqual([{ all: true }]);
  vi.advanceTimersByTime(1_000);
  expect([back.data(), fresh.data()]).toEqual([[{ all: true }], [{ all: true }]]);
  // Control: where nothing has changed nothing is told, and where it has while somebody listens they hear of it.
  expect(listen(back.position()).data()).toEqual([]);
  gates.isPanic = false;
  vi.advanceTimersByTime(1_000);
  expect(back.data()).toEqual([{ all: true }, { all: true }]);
});
