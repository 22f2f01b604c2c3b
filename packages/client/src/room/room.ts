// A room one is in: what its holder can see, say and do. State lives in the core, verbs in files of their own.
import type { JsonObject, Level, SignatureVerdict } from "@mcpx/protocol";
import { shakeHandsEagerly } from "../calls/handshake.ts";
import { RoomTransport } from "../calls/transport.ts";
import type { Receipt } from "../connection/outbox.ts";
import { type Draft, publish, type RoomCore } from "../core/room-core.ts";
import { roomCores } from "../core/room-cores.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import type {
  RoomEventMap,
  RoomEventName,
  RoomListener,
  RoomListenerOptions,
  RoomState,
} from "../core/room-events.ts";
import type { Participant } from "../core/roster.ts";
import { type ProposalDraft, type ProposalHandle, propose } from "../proposals/propose.ts";
import type { ProposalTracking } from "../proposals/track-proposals.ts";
import type { Served, ServerFactory } from "../serving/serve.ts";
import type { ServableServer } from "../serving/served-link.ts";
import type { ServeOptions } from "../serving/served-methods.ts";
import { writeChat } from "./chat.ts";
import { type HistoryOptions, type HistoryPage, readHistory } from "./history.ts";
import { Peer } from "./peer.ts";
import { RoomProposals } from "./room-proposals.ts";

export class Room implements AsyncDisposable {
  readonly #core: RoomCore;
  readonly #tracking: ProposalTracking;
  /** The proposals of everybody here, and what one can do about them. */
  readonly proposals: RoomProposals;

  constructor(core: RoomCore, tracking: ProposalTracking) {
    this.#core = core;
    this.#tracking = tracking;
    this.proposals = new RoomProposals(core, tracking);
    roomCores.set(this, core);
  }

  get topic(): string {
    return this.#core.topic;
  }

  /** This participant's id in the room. */
  get id(): string {
    return this.#core.id;
  }

  get level(): Level {
    return this.#core.level;
  }

  /** What is going on with the connection; `reason` says why it is not live. */
  get state(): RoomState {
    return this.#core.connection.state;
  }

  /** Why the room is not live: a word such as `network`, `replaced` or `kicked`. */
  get reason(): string | undefined {
    return this.#core.connection.reason;
  }

  /** The others who are here. */
  get peers(): Participant[] {
    return this.#core.roster.all();
  }

  /** The last envelopes before we joined, oldest first. */
  get recent(): readonly RoomEnvelope[] {
    return this.#core.recent;
  }

  /** Whether what is said here is kept for those who come later. */
  get hasHistory(): boolean {
    return this.#core.hasHistory;
  }

  /** The position up to which everything has been seen, as `EPOCH:SEQ`. */
  get position(): string {
    const { epoch = "", seq = 0 } = this.#core.connection.position ?? {};
    return `${epoch}:${seq}`;
  }

  /**
   * A page of the past, newest first.
   * @example const { envelopes, next } = await room.history({ limit: 50 });
   */
  history(options: HistoryOptions = {}): Promise<HistoryPage> {
    return readHistory(this.#core, options);
  }

  /**
   * Judges the signature of an envelope that came out of this room. The room must have been joined with `verify`.
   * @example if (room.recent[0]) console.log((await room.verify(room.recent[0])).state);
   */
  async verify(envelope: RoomEnvelope): Promise<SignatureVerdict> {
    const { signing } = this.#core.connection.options;
    if (signing === undefined) throw new RoomError("bad_option", "join the room with a key book to verify");
    return signing.verify(envelope);
  }

  /**
   * Says something, to all or to some. Resolves when it is on the gateway's disk.
   * @example await room.say("Dinner is *ready*", { format: "markdown" });
   */
  say(
    text: string,
    { format, to }: { format?: "plain" | "markdown"; to?: readonly string[] } = {},
  ): Promise<Receipt> {
    return publish(this.#core, { ...writeChat(this.#core.protocol, text, format), to });
  }

  /**
   * Publishes an envelope of any kind. It is sent again with the same id until the gateway has answered.
   * @example const { seq } = await room.publish({ kind: "chat", payload: { text: "hello" } });
   */
  publish(draft: Draft): Promise<Receipt> {
    return publish(this.#core, draft);
  }

  /**
   * Somebody here as an MCP server. Ask for oneself to call what one serves.
   * @example const tools = await room.peer("oven").listTools();
   */
  peer(id: string): Peer {
    const { options, roster, level } = this.#core;
    if (options.handshake === "lazy" && level === "full" && roster.has(id)) {
      void shakeHandsEagerly(this.#core, id);
    }
    return new Peer(this.#core, this.#tracking, id);
  }

  /**
   * A transport for the official SDK's `Client` or `Server`, to one peer.
   * @example await new Client({ name: "me", version: "1.0.0" }).connect(room.transport("oven"));
   */
  transport(peer: string): RoomTransport {
    return new RoomTransport(this.#core, peer);
  }

  /**
   * Serves an SDK server to everybody here: one instance, or a factory that makes one for each peer.
   * @example await room.serve(new McpServer({ name: "oven", version: "1.0.0" }));
   */
  async serve(server: ServableServer | ServerFactory, options?: ServeOptions): Promise<Served> {
    // Most pages only look on and call: they need not load this.
    const { serve } = await import("../serving/serve.ts");
    return serve(this.#core, server, options);
  }

  /**
   * Proposes what one may not, or will not, do oneself.
   * @example const { result } = room.propose({ to: "oven", method: "tools/call", params: { name: "heat" }, reason: "hungry" });
   */
  propose(draft: ProposalDraft): ProposalHandle {
    return propose(this.#core, this.#tracking, draft);
  }

  /**
   * Shows the others how one is.
   * @example await room.setStatus("busy", "baking");
   */
  async setStatus(status: string, text?: string): Promise<void> {
    const payload: JsonObject = { type: "presence_status", status, ...(text === undefined ? {} : { text }) };
    await publish(this.#core, { kind: "system", payload }, { isPassing: true });
  }

  /**
   * Listens.
   * @example room.addEventListener("chat", ({ detail }) => console.log(detail.from, detail.text));
   */
  addEventListener<Name extends RoomEventName>(
    type: Name,
    listener: RoomListener<Name>,
    options?: RoomListenerOptions,
  ): void {
    this.#core.events.add(type, listener, options);
  }

  /**
   * Listens no longer.
   * @example room.removeEventListener("chat", onChat);
   */
  removeEventListener<Name extends RoomEventName>(type: Name, listener: RoomListener<Name>): void {
    this.#core.events.remove(type, listener);
  }

  /**
   * Loops over events from now on, until the room is closed. A loop that falls too far behind ends with an error.
   * @example for await (const { from, text } of room.events("chat")) console.log(from, text);
   */
  events<Name extends RoomEventName>(
    type: Name,
    { bufferMax = this.#core.options.bufferMax }: { bufferMax?: number } = {},
  ): AsyncIterableIterator<RoomEventMap[Name]> {
    return this.#core.events.stream(type, bufferMax);
  }

  /**
   * Leaves. What was published and not acknowledged fails; nothing of the room goes on.
   * @example await room.close();
   */
  close(): Promise<void> {
    return this.#core.connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
