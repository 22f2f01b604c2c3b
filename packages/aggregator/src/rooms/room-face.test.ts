import { expect, test } from "vitest";
import { callerOf, testTree } from "../testing/test-tree.ts";
import { createRoomFace } from "./room-face.ts";
import type { Seat, Seats } from "./seats.ts";

function seatAt(topic: string): Seat & { end(): void } {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const { tree } = testTree([]);
  const room = {} as Seat["room"];
  return {
    topic,
    room,
    tree,
    uses: 0,
    usedAt: 0,
    sessions: new Set(),
    isOpenEnded: false,
    ended,
    end: resolve,
  };
}

test("[B-ROOM-1] who listens at one room hears nothing of another, under the same key", async () => {
  const places = new Map(["a", "b"].map((topic) => [topic, seatAt(topic)]));
  const seats: Seats = {
    of: async (_, topic) => places.get(topic) as Seat,
    leave: () => {},
    release: () => {},
    close: async () => {},
  };
  const face = createRoomFace(seats);
  const heard: string[] = [];
  const at = (place: string) => ({ ...callerOf({}), key: "one client", place });
  await face.subscribe(at("a"), { toolsListChanged: true }, (method) => heard.push(method));
  const first = places.get("a");
  places.set("a", seatAt("a"));
  first?.end();
  await first?.ended;
  const list = (place: string) =>
    face.subscribe(at(place), {}, () => {}).then((subscription) => subscription.close());
  await list("b");
  expect(heard).toEqual([]);
  // Control: at its own room it listens again.
  await list("a");
  expect(heard).toEqual(["notifications/tools/list_changed"]);
});
