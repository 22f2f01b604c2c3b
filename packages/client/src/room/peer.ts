// Somebody else in the room as an MCP server: list, call, read. [X0-12-1]
import { isObject, type JsonObject } from "@mcpx/protocol";
import { callSelf } from "../calls/call-self.ts";
import { shakeHands } from "../calls/handshake.ts";
import type { RequestOptions } from "../calls/request.ts";
import { requestPeer } from "../calls/request-peer.ts";
import { within } from "../core/pause.ts";
import type { RoomCore } from "../core/room-core.ts";
import { asError, PeerError, RoomError } from "../core/room-error.ts";
import type { Participant } from "../core/roster.ts";
import { propose } from "../proposals/propose.ts";
import type { ProposalTracking } from "../proposals/track-proposals.ts";

export interface CallOptions extends RequestOptions {
  /** Where our level does not allow the call: `auto` proposes it and waits for its fulfilment, `never` fails. */
  propose?: "auto" | "never" | undefined;
  /** The reason, shown to the participants who decide on the proposal. */
  reason?: string | undefined;
  /** `_meta` of a tool's call, such as the `traceparent` of its trace. A proposal has none. */
  meta?: JsonObject | undefined;
}

export interface Tool extends JsonObject {
  name: string;
  description?: string;
  inputSchema: JsonObject;
}

export interface ToolResult extends JsonObject {
  content: JsonObject[];
  isError?: boolean;
  structuredContent?: JsonObject;
}

const pagesMax = 1_000;

export class Peer {
  readonly id: string;
  readonly #core: RoomCore;
  readonly #tracking: ProposalTracking;

  constructor(core: RoomCore, tracking: ProposalTracking, id: string) {
    this.id = id;
    this.#core = core;
    this.#tracking = tracking;
  }

  /** As presence shows it; `undefined` while it is away. */
  get participant(): Participant | undefined {
    return this.#core.roster.get(this.id);
  }

  /**
   * Shakes hands where that has not been done; says what the peer says of itself.
   * @example const { serverInfo } = await room.peer("oven").introduction();
   */
  introduction(): Promise<JsonObject> {
    return shakeHands(this.#core, this.id);
  }

  /**
   * The tools it serves.
   * @example for (const { name } of await room.peer("oven").listTools()) console.log(name);
   */
  async listTools(options?: RequestOptions): Promise<Tool[]> {
    return (await this.#list("tools/list", "tools", options)) as Tool[];
  }

  /**
   * Calls a tool. Not allowed to? Then it becomes a proposal, and the result is that of its fulfilment.
   * @example await room.peer("oven").callTool("heat", { degrees: 180 }, { onProgress: ({ progress }) => show(progress) });
   */
  async callTool(name: string, args: JsonObject = {}, options: CallOptions = {}): Promise<ToolResult> {
    const params = { name, arguments: args };
    const result = await this.request("tools/call", params, { propose: "auto", ...options });
    return (Array.isArray(result.content) ? result : { ...result, content: [] }) as ToolResult;
  }

  /**
   * The resources it serves, where it does.
   * @example const [first] = await room.peer("archive").listResources();
   */
  listResources(options?: RequestOptions): Promise<JsonObject[]> {
    return this.#list("resources/list", "resources", options);
  }

  /**
   * Reads a resource.
   * @example const { contents } = await room.peer("archive").readResource("note://today");
   */
  readResource(uri: string, options?: CallOptions): Promise<JsonObject> {
    return this.request("resources/read", { uri }, options);
  }

  /**
   * The prompts it serves, where it does.
   * @example const prompts = await room.peer("archive").listPrompts();
   */
  listPrompts(options?: RequestOptions): Promise<JsonObject[]> {
    return this.#list("prompts/list", "prompts", options);
  }

  /**
   * A prompt, filled in.
   * @example const { messages } = await room.peer("archive").getPrompt("summary", { of: "today" });
   */
  getPrompt(name: string, args: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    return this.request("prompts/get", { name, arguments: args }, options);
  }

  /**
   * Any MCP request.
   * @example await room.peer("oven").request("ping", {});
   */
  async request(method: string, params: JsonObject = {}, options: CallOptions = {}): Promise<JsonObject> {
    if (this.id === this.#core.id) return callSelf(this.#core, method, params, options);
    const mayPropose = options.propose === "auto";
    if (mayPropose && this.#core.level !== "full") return this.#propose(method, params, options);
    try {
      const sent = options.meta === undefined ? params : { ...params, _meta: options.meta };
      return await requestPeer(this.#core, this.id, method, sent, options);
    } catch (error) {
      // Our level fell while we asked.
      const isLevel = error instanceof PeerError && error.reason === "privilege_violation";
      if (!mayPropose || !isLevel) throw error;
      return this.#propose(method, params, options);
    }
  }

  /** [AC-10-2] */
  async #propose(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject> {
    const { key } = this.#core;
    if (key === undefined || method !== "tools/call") return this.#proposeOnce(method, params, options);
    const { callGuarded } = await import("../guard/call-guarded.ts");
    return callGuarded(this.#core, key, { peer: this.id, params, isProposed: true }, (sent, body, _, id) =>
      this.#proposeOnce(sent, body, { ...options, id }),
    );
  }

  async #proposeOnce(
    method: string,
    params: JsonObject,
    options: CallOptions & { id?: string },
  ): Promise<JsonObject> {
    const { signal, reason, timeoutMs, id } = options;
    if (signal?.aborted) throw signal.reason;
    const draft = { id, to: this.id, method, params, reason, ttlMs: timeoutMs };
    const { result, withdraw } = propose(this.#core, this.#tracking, draft);
    if (signal === undefined) return result;
    try {
      return await within(result, signal);
    } catch (error) {
      if (signal.aborted) withdraw().catch(() => {});
      throw asError(error);
    }
  }

  async #list(method: string, member: string, options?: RequestOptions): Promise<JsonObject[]> {
    const all: JsonObject[] = [];
    let cursor: unknown;
    for (let page = 0; page < pagesMax; page += 1) {
      const listed = await this.request(method, cursor === undefined ? {} : { cursor }, options);
      const items = listed[member];
      if (!Array.isArray(items))
        throw new RoomError("bad_answer", `${this.id} answered ${method} without a list`);
      all.push(...items.filter(isObject));
      cursor = listed.nextCursor;
      if (typeof cursor !== "string") return all;
    }
    throw new RoomError("bad_answer", `${this.id} has more than ${pagesMax} pages of ${member}`);
  }
}
