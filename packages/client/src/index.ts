// Five lines to be in a room. For browsers and Node; nothing here imports `node:`.

export type { BackoffOptions } from "@mcpx/protocol";
export type { Progress, RequestOptions } from "./calls/request.ts";
export type { RoomTransport } from "./calls/transport.ts";
export type { LocalGateway } from "./connection/gateway-transport.ts";
export type { Receipt } from "./connection/outbox.ts";
export type { TokenProvider } from "./connection/token-source.ts";
export type { WebSocketConstructor, WebSocketLike } from "./connection/web-socket.ts";
export type { Draft } from "./core/room-core.ts";
export { isRoomEnvelope, type RoomEnvelope } from "./core/room-envelope.ts";
export { type ClientReason, PeerError, RoomError } from "./core/room-error.ts";
export type { RoomEvent, RoomEventMap, RoomEventName, RoomState } from "./core/room-events.ts";
export type { Participant } from "./core/roster.ts";
export { fulfilmentMetaOf, withFulfilmentMeta } from "./proposals/fulfilment-meta.ts";
export type { Proposal, ProposalChange, ProposalStatus } from "./proposals/proposal.ts";
export { type ProposalRecord, proposalRecord } from "./proposals/proposal-record.ts";
export type { ProposalDraft, ProposalHandle } from "./proposals/propose.ts";
export { ProposalTracker } from "./proposals/tracker.ts";
export { type ChatMessage, readChat } from "./room/chat.ts";
export type { HistoryOptions, HistoryPage } from "./room/history.ts";
export { type JoinOptions, joinRoom } from "./room/join-room.ts";
export type { CallOptions, Peer, Tool, ToolResult } from "./room/peer.ts";
export type { Room } from "./room/room.ts";
export type { FulfilOptions, ProposalWord, RoomProposals } from "./room/room-proposals.ts";
export type { Served, ServerFactory } from "./serving/serve.ts";
export type { ServableServer } from "./serving/served-link.ts";
export type { ServeOptions } from "./serving/served-methods.ts";
