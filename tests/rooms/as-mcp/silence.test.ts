// A participant that does not answer keeps the readers of a room's tools waiting once.
import { expect, onTestFinished, test, vi } from "vitest";
import { createPeerLists } from "../../../packages/aggregator/src/rooms/peer-lists.ts";
import { createPeerNames } from "../../../packages/aggregator/src/rooms/peer-names.ts";
import { join, startHouse, topic } from "../../client/support/house.ts";
import { kitchenV1 } from "../../client/support/sdk-servers.ts";
import { enter } from "../../support/enter.ts";

test("[B-ROOM-1] whoever has kept a reader waiting is not waited for until it has answered", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  await enter(house, "silent", { topic });
  const room = await join(house, "reader");
  const lists = createPeerLists({
    room,
    lister: async () => room,
    isLeftOut: () => false,
    names: createPeerNames(),
    changed: () => {},
    logLine: () => {},
    bounds: { waitMs: 1_000 },
  });
  onTestFinished(() => lists.close());
  const peers = async () => [...new Set((await lists.read()).map(({ peer }) => peer))];
  expect(await peers()).toEqual(["oven"]);
  // No timer comes to an end from now on: whoever waits for the silent one waits for ever.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  for (let times = 0; times < 3; times += 1) expect(await peers()).toEqual(["oven"]);
});
