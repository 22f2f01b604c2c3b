// Where an envelope of the room goes: to a waiting call, a transport, what is served here, or nobody. [X0-3-3]
import { isObject, isRequestId, parseKind } from "@mcpx/protocol";
import { originOf, refuse } from "../calls/incoming.ts";
import type { RoomCore } from "../core/room-core.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { readChat } from "./chat.ts";

export function route(core: RoomCore, envelope: RoomEnvelope): void {
  core.events.emit("envelope", envelope);
  const chat = readChat(envelope);
  if (chat !== undefined) {
    if (envelope.from !== core.id) core.events.emit("chat", chat);
  } else if (parseKind(envelope.kind)?.kind === "mcp") {
    routeMcp(core, envelope);
  }
}

function routeMcp(core: RoomCore, envelope: RoomEnvelope): void {
  const { payload, to = [], from } = envelope;
  if (typeof payload.method !== "string") {
    core.calls.answer(envelope);
  } else if (isRequestId(payload.id)) {
    if (to.includes(core.id)) routeRequest(core, envelope); // [X0-7-2]
  } else if (from !== core.id && (to.length === 0 || to.includes(core.id))) {
    routeNotification(core, envelope);
  }
}

function routeRequest(core: RoomCore, envelope: RoomEnvelope): void {
  for (const receiver of [...core.receivers].reverse()) if (receiver.request(envelope)) return;
  if (core.served?.request(envelope)) return;
  const origin = originOf(core, envelope);
  if (origin === undefined || core.level === "restricted" || core.options.isSecond?.()) return;
  refuse(core, origin, "not_served", "Nothing is served here");
}

function routeNotification(core: RoomCore, envelope: RoomEnvelope): void {
  const { payload, from } = envelope;
  const params = isObject(payload.params) ? payload.params : {};
  if (payload.method === "notifications/progress") core.calls.progress(from, params);
  for (const receiver of [...core.receivers]) receiver.notification(envelope);
  core.served?.notification(envelope);
  core.events.emit("notification", { from, method: payload.method as string, params });
}
