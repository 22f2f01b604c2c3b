// What is inside a room, for the other entrances of this library; its holder sees only the room.
import type { RoomCore } from "./room-core.ts";

export const roomCores = new WeakMap<object, RoomCore>();
