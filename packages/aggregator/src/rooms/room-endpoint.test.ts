import { expect, test } from "vitest";
import { callerOf, testTree } from "../testing/test-tree.ts";
import type { RoomConnection, RoomConnections } from "./room-connections.ts";
import { createRoomEndpoint } from "./room-endpoint.ts";

function roomConnectionAt(topic: string): RoomConnection & { end(): void } {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const { tree } = testTree([]);
  const room = {} as RoomConnection["room"];
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
  const places = new Map(["a", "b"].map((topic) => [topic, roomConnectionAt(topic)]));
  const roomConnections: RoomConnections = {
    of: async (_, topic) => places.get(topic) as RoomConnection,
    leave: () => {},
    release: () => {},
    close: async () => {},
  };
  const roomEndpoint = createRoomEndpoint(roomConnections);
  const heard: string[] = [];
  const at = (place: string) => ({ ...callerOf({}), key: "one client", place });
  await roomEndpoint.subscribe(at("a"), { toolsListChanged: true }, (method) => heard.push(method));
  const first = places.get("a");
  places.set("a", roomConnectionAt("a"));
  first?.end();
  await first?.ended;
  const list = (place: string) =>
    roomEndpoint.subscribe(at(place), {}, () => {}).then((subscription) => subscription.close());
  await list("b");
  expect(heard).toEqual([]);
  // Control: at its own room it listens again.
  await list("a");
  expect(heard).toEqual(["notifications/tools/list_changed"]);
});
