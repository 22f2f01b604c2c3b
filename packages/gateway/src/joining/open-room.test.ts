import { openDatabase } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { afterAll, expect, test } from "vitest";
import { defaultOptions, type Gateway } from "../room/gateway-state.ts";
import { createPlaces } from "../room/places.ts";
import { createSqliteRoomState } from "../state/room-state-sqlite.ts";
import { gatewayMigrations } from "../state/state-schema.ts";
import { createMemoryTopicLog } from "../topic-log/memory.ts";
import { openRoom } from "./open-room.ts";

const principal = {
  id: "alice",
  issuer: "mcpx",
  jti: "1",
  issuedAt: 1,
  admin: false,
  topics: ["**"],
  levelMax: "full" as const,
  tools: [],
  expiresAt: 0,
  tokenHash: "",
};

const db = openDatabase(":memory:", { component: "gateway", migrations: gatewayMigrations });
afterAll(() => db.close());

function gatewayWith(topicsMax: number): Gateway {
  return {
    options: defaultOptions,
    limits: { ...defaultLimits, topicsMax },
    durableLog: createMemoryTopicLog(),
    rooms: new Map(),
    topics: new Set<string>(),
    places: createPlaces(),
    topicMakers: createSqliteRoomState(db).topicMakers,
  } as Partial<Gateway> as Gateway;
}

test("[X0-2.2-1] topics that are being made count, and the same one only once", async () => {
  const gateway = gatewayWith(2);
  const opened = await Promise.allSettled(
    ["a", "b", "a", "c", "b"].map((name) => openRoom(gateway, name, principal)),
  );
  expect(opened.map((each) => (each.status === "fulfilled" ? each.value.topic : each.reason.code))).toEqual([
    "a",
    "b",
    "a",
    "too_many_topics",
    "b",
  ]);
  expect((await gateway.durableLog.topics()).map(({ name }) => name)).toEqual(["a", "b"]);
});

test("[X0-2.2-1] one that could not be made takes no place, for whoever asked for it", async () => {
  const gateway = gatewayWith(2);
  await gateway.durableLog.close();
  const opened = await Promise.allSettled(["a", "a", "b"].map((name) => openRoom(gateway, name, principal)));
  expect(opened.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(gateway.topics.size).toBe(0);
});
