// A server's way into a tree: it registers with an aggregator and stays registered. For browsers and Node; nothing
// here imports `node:`.
export type { Budget, RegistrationAnswer, RegistrationCapabilities, TransportClass } from "@mcpx/protocol";
export { RoomError } from "../core/room-error.ts";
export type { ServableServer } from "../serving/served-link.ts";
export type { OpenSocket, SubserverSocket } from "./channel-socket.ts";
export { type RegisterOptions, registerWith } from "./register-with.ts";
export type { Subserver, SubserverState } from "./subserver.ts";
