// A conversation with a server of the legacy era: introduced once, requests in both directions.
import { isMcpxError, isObject, isRequestId, type JsonObject } from "@mcpx/protocol";
import { type LogLevel, legacyRevisions } from "../mcp/era.ts";
import type { Question } from "../mcp/exchange.ts";
import { faultOf, rpcCodes } from "../mcp/rpc-error.ts";
import { asTree } from "./as-tree.ts";
import type { Conversation, InFlight, Listener } from "./conversation.ts";
import type { Link, LinkRequest, LinkTaker, ServerFacts } from "./link.ts";
import { isOwn, ownRequest } from "./own-request.ts";
import { Upkeep } from "./upkeep.ts";
import type { Wire } from "./wire.ts";

export interface LegacyOptions {
  clientInfo: JsonObject;
  /** Declared once, for every caller of this link. */
  capabilities: JsonObject;
  questionsMax: number;
}

const questions = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);
/** COMPAT: before the first published revision; nothing we use has changed. */
const spoken: readonly string[] = [...legacyRevisions, "2024-10-07"];

export class LegacyLink implements Link, Listener {
  readonly pid: number | undefined;
  readonly ended: Promise<string>;
  readonly #wire: Wire;
  readonly #conversation: Conversation;
  readonly #taker: LinkTaker;
  readonly #options: LegacyOptions;
  readonly #upkeep: Upkeep;
  /** The server's questions that are being answered, by its ids. */
  readonly #asked = new Set<string | number>();
  #facts: ServerFacts | undefined;

  constructor(conversation: Conversation, wire: Wire, taker: LinkTaker, options: LegacyOptions) {
    this.#wire = wire;
    this.#conversation = conversation;
    this.#taker = taker;
    this.#options = options;
    this.pid = wire.pid;
    this.ended = wire.ended;
    this.#upkeep = new Upkeep(conversation);
    conversation.listener = this;
  }

  /** Introduces us; to be called once, before anything else. */
  async initialize(signal: AbortSignal): Promise<void> {
    const { clientInfo, capabilities } = this.#options;
    const params = { protocolVersion: legacyRevisions[0], capabilities: asTree(capabilities), clientInfo };
    const id = this.#conversation.nextId();
    const result = await this.#conversation.request(id, ownRequest("initialize", signal), params);
    const revision = result.protocolVersion;
    if (typeof revision !== "string" || !spoken.includes(revision)) {
      const text = JSON.stringify(revision)?.slice(0, 80);
      throw this.#conversation.error(
        "bad_server_answer",
        `it speaks the MCP revision ${text}, which mcpx does not support`,
      );
    }
    this.#facts = {
      era: "legacy",
      revision,
      capabilities: isObject(result.capabilities) ? result.capabilities : {},
      info: isObject(result.serverInfo) ? result.serverInfo : undefined,
      instructions: typeof result.instructions === "string" ? result.instructions : undefined,
    };
    this.#upkeep.capabilities = this.#facts.capabilities;
    this.#conversation.tell({ method: "notifications/initialized" });
  }

  get facts(): ServerFacts {
    if (this.#facts === undefined) throw new Error("not initialized");
    return this.#facts;
  }

  get tellsQuestionsApart(): boolean {
    return this.#conversation.hasStreams;
  }

  get hasSession(): boolean | undefined {
    return this.#wire.hasSession;
  }

  request(request: LinkRequest): Promise<JsonObject> {
    const id = this.#conversation.nextId();
    const { params } = request;
    if (!request.wantsProgress) return this.#conversation.request(id, request, params);
    const meta = isObject(params._meta) ? params._meta : undefined;
    return this.#conversation.request(id, request, { ...params, _meta: { ...meta, progressToken: id } });
  }

  notify(method: string, params: JsonObject): void {
    this.#conversation.tell({ method, params });
  }

  watch(uris: ReadonlySet<string>): void {
    this.#upkeep.watch(uris);
  }

  setLogLevel(level: LogLevel): void {
    this.#upkeep.setLogLevel(level);
  }

  close(): Promise<void> {
    return this.#conversation.close();
  }

  heard(message: JsonObject, on: InFlight | undefined): void {
    const method = message.method as string;
    const params = isObject(message.params) ? message.params : {};
    if (message.id !== undefined) this.#answer(message.id, { method, params: withoutToken(params) }, on);
    else if (method === "notifications/progress") this.#progress(params);
    else if (method === "notifications/cancelled") this.#asked.delete(params.requestId as string);
    else if (method === "notifications/message") this.#logged(params, on);
    else this.#taker.notification(method, params);
  }

  cancelled({ id, signal, request }: InFlight): void {
    // The specification forbids it for this one.
    if (request.method === "initialize") return;
    const reason = reasonOf(signal.reason);
    this.#conversation.tell({
      method: "notifications/cancelled",
      params: { requestId: id, ...(reason !== undefined && { reason }) },
    });
  }

  #progress({ progressToken, ...params }: JsonObject): void {
    const inFlight = this.#conversation.find(progressToken);
    if (inFlight?.request.wantsProgress) inFlight.notify("notifications/progress", params);
  }

  /** Without a stream to go by, only the one that is under way alone can be meant: others' callers must not read it. */
  #logged(params: JsonObject, on: InFlight | undefined): void {
    const inFlight =
      on === undefined && !this.#conversation.hasStreams ? this.#conversation.only : this.#ownerOf(on);
    const isUnclear = !this.#conversation.hasStreams && this.#conversation.oldest !== undefined;
    if (inFlight === undefined) this.#taker.notification("notifications/message", params, isUnclear);
    else inFlight.notify("notifications/message", params);
  }

  #ownerOf(on: InFlight | undefined): InFlight | undefined {
    if (on !== undefined) return isOwn(on.request) ? undefined : on;
    return this.#conversation.hasStreams ? undefined : this.#conversation.oldest;
  }

  #answer(id: unknown, question: Question, on: InFlight | undefined): void {
    if (question.method === "ping") {
      this.#conversation.tell({ id, result: {} });
    } else if (!isRequestId(id) || this.#asked.has(id)) {
      this.#conversation.logLine("(a question without an id of its own was dropped)");
    } else if (!questions.has(question.method)) {
      const error = { code: rpcCodes.methodNotFound, message: "Method not found" };
      this.#conversation.tell({ id, error });
    } else if (this.#asked.size >= this.#options.questionsMax) {
      this.#conversation.tell({ id, error: { code: rpcCodes.internal, message: "Too many questions" } });
    } else {
      this.#asked.add(id);
      void this.#ask(id, question, this.#ownerOf(on));
    }
  }

  async #ask(id: string | number, question: Question, inFlight: InFlight | undefined): Promise<void> {
    let reply: JsonObject;
    try {
      const key = String(id);
      const result =
        inFlight === undefined
          ? await this.#taker.question(question)
          : (await inFlight.request.ask({ [key]: question }))[key];
      reply = { id, result: result ?? {} };
    } catch (error) {
      if (isMcpxError(error) && error.code === "internal") this.#conversation.logLine(error.message);
      reply = { id, error: faultOf(error) };
    }
    // The server may have cancelled its question.
    if (this.#asked.delete(id)) this.#conversation.tell(reply);
  }
}

/** A token is for this hop only, and we report no progress. */
function withoutToken(params: JsonObject): JsonObject {
  if (!isObject(params._meta) || params._meta.progressToken === undefined) return params;
  const { progressToken: _, ...meta } = params._meta;
  return { ...params, _meta: meta };
}

function reasonOf(reason: unknown): string | undefined {
  if (typeof reason === "string") return reason.slice(0, 200);
  return isMcpxError(reason) ? reason.message.slice(0, 200) : undefined;
}
