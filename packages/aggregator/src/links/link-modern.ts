// A conversation with a server of the modern era: every request says who asks and what they can, and a question comes
// back as a result. What is said unasked comes by a subscription.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type LogLevel, metaKeys, modernRevision, treeExtension, unaskedKey } from "../mcp/era.ts";
import { asTree } from "./as-tree.ts";
import type { Conversation, InFlight, Listener } from "./conversation.ts";
import { headerValue } from "./header-value.ts";
import type { Link, LinkRequest, LinkTaker, ServerFacts } from "./link.ts";
import { type Filter, Listening } from "./listening.ts";
import { ownRequest } from "./own-request.ts";
import type { Wire } from "./wire.ts";

export interface ModernOptions {
  clientInfo: JsonObject;
  /** Declared with what the link asks for itself. */
  capabilities: JsonObject;
}

/** What `Mcp-Name` repeats. */
const nameFields: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};
/** What a server is to log outside of requests. */
const ownLogLevel: LogLevel = "info";
/** How long an opening waits until changes are told of; they are made up for if it takes longer. */
const acknowledgedMs = 1_000;

export class ModernLink implements Link, Listener {
  readonly pid: number | undefined;
  readonly ended: Promise<string>;
  readonly #conversation: Conversation;
  readonly #taker: LinkTaker;
  readonly #options: ModernOptions;
  readonly #listening: Listening;
  #facts: ServerFacts | undefined;

  constructor(conversation: Conversation, wire: Wire, taker: LinkTaker, options: ModernOptions) {
    this.#conversation = conversation;
    this.#taker = taker;
    this.#options = options;
    this.pid = wire.pid;
    this.ended = wire.ended;
    const listen = (id: string, notifications: Filter, signal: AbortSignal) =>
      this.#send(id, {
        ...this.#own("subscriptions/listen", signal, { notifications }),
        // Servers of this era log only where a request says how much.
        logLevel: isObject(this.facts.capabilities.logging) ? ownLogLevel : undefined,
      });
    this.#listening = new Listening(conversation, taker, listen);
    conversation.listener = this;
    void wire.ended.then(() => this.#listening.close());
  }

  /** What the server says of itself, or `undefined` where the answer is none of a modern server. */
  async discover(signal: AbortSignal): Promise<ServerFacts | undefined> {
    const result = await this.request(this.#own("server/discover", signal, {}));
    const { supportedVersions, capabilities, instructions, _meta } = result;
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(modernRevision)) return undefined;
    const info = isObject(_meta) ? _meta[metaKeys.serverInfo] : undefined;
    this.#facts = {
      era: "modern",
      revision: modernRevision,
      capabilities: isObject(capabilities) ? capabilities : {},
      info: isObject(info) ? info : undefined,
      instructions: typeof instructions === "string" ? instructions : undefined,
    };
    return this.#facts;
  }

  /** Asks to be told of changes; to be called once the server is known to be modern. */
  async listen(): Promise<void> {
    this.#listening.want(this.#filter(new Set()));
    await this.#listening.acknowledged(acknowledgedMs);
  }

  get facts(): ServerFacts {
    if (this.#facts === undefined) throw new Error("not discovered");
    return this.#facts;
  }

  /** Its questions are answers to the requests they belong to. */
  get tellsQuestionsApart(): boolean {
    return true;
  }

  request(request: LinkRequest): Promise<JsonObject> {
    return this.#send(this.#conversation.nextId(), request);
  }

  notify(method: string, params: JsonObject): void {
    // Over HTTP this era has no notifications of the client's side.
    if (this.#conversation.hasStreams) return;
    this.#conversation.tell({ method, params });
  }

  watch(uris: ReadonlySet<string>): void {
    this.#listening.want(this.#filter(uris));
  }

  /** Each request says it for itself. */
  setLogLevel(_level: LogLevel): void {}

  async close(): Promise<void> {
    this.#listening.close();
    await this.#conversation.close();
  }

  heard(message: JsonObject, on: InFlight | undefined): void {
    const method = message.method as string;
    const params = isObject(message.params) ? message.params : {};
    if (message.id !== undefined) {
      this.#conversation.logLine(`(a question was dropped: ${method.slice(0, 80)}; this era has none)`);
    } else if (this.#listening.heard(method, params, on)) return;
    else if (method === "notifications/progress") this.#progress(params, on);
    else if (method === "notifications/message") this.#logged(params, on);
    else this.#taker.notification(method, params);
  }

  cancelled({ id, request }: InFlight): void {
    // Over HTTP the end of its stream says so; and who is silent to this may be of the other era.
    if (this.#conversation.hasStreams || request.method === "server/discover") return;
    this.#conversation.tell({ method: "notifications/cancelled", params: { requestId: id } });
  }

  #send(id: string | number, request: LinkRequest): Promise<JsonObject> {
    const { params } = request;
    const meta: JsonObject = isObject(params._meta) ? { ...params._meta } : {};
    meta[metaKeys.protocolVersion] = modernRevision;
    meta[metaKeys.clientInfo] = request.info ?? this.#options.clientInfo;
    meta[metaKeys.clientCapabilities] = this.#speaksToTree()
      ? asTree(request.capabilities)
      : request.capabilities;
    if (request.logLevel !== undefined) meta[metaKeys.logLevel] = request.logLevel;
    if (request.wantsProgress) meta.progressToken = id;
    const headers = this.#conversation.hasStreams ? headersOf(request) : undefined;
    return this.#conversation.request(id, request, { ...params, _meta: meta }, headers);
  }

  #own(method: string, signal: AbortSignal, params: JsonObject): LinkRequest {
    return { ...ownRequest(method, signal, params), capabilities: this.#options.capabilities };
  }

  #progress({ progressToken, ...params }: JsonObject, on: InFlight | undefined): void {
    const inFlight = on ?? this.#conversation.find(progressToken);
    if (inFlight?.request.wantsProgress) inFlight.notify("notifications/progress", params);
  }

  #logged(params: JsonObject, on: InFlight | undefined): void {
    const inFlight = on ?? this.#conversation.only;
    const isUnclear = !this.#conversation.hasStreams && this.#conversation.oldest !== undefined;
    if (inFlight === undefined) this.#taker.notification("notifications/message", params, isUnclear);
    else inFlight.notify("notifications/message", params);
  }

  /** As much as the server says it can. */
  #filter(uris: ReadonlySet<string>): Filter {
    const has = (list: string, what: string) => {
      const capability = this.facts.capabilities[list];
      return isObject(capability) && capability[what] === true;
    };
    return {
      ...(has("tools", "listChanged") && { toolsListChanged: true }),
      ...(has("prompts", "listChanged") && { promptsListChanged: true }),
      ...(has("resources", "listChanged") && { resourcesListChanged: true }),
      ...(has("resources", "subscribe") && uris.size > 0 && { resourceSubscriptions: [...uris].sort() }),
      ...(this.#speaksToTree() && { [unaskedKey]: { logLevel: ownLogLevel } }),
    };
  }

  #speaksToTree(): boolean {
    const extensions = this.#facts?.capabilities.extensions;
    return isObject(extensions) && isObject(extensions[treeExtension]);
  }
}

function headersOf({ method, params, paramHeaders }: LinkRequest): Record<string, string> {
  const headers: Record<string, string> = {
    "mcp-protocol-version": modernRevision,
    "mcp-method": method,
  };
  const field = Object.hasOwn(nameFields, method) ? nameFields[method] : undefined;
  const name = field === undefined ? undefined : params[field];
  if (typeof name === "string") headers["mcp-name"] = headerValue(name);
  for (const key in paramHeaders) {
    if (/^mcp-param-/i.test(key)) headers[key] = paramHeaders[key] as string;
  }
  return headers;
}
