// A conversation with one server, in its era. A link knows the protocol's bookkeeping (ids, envelopes, progress
// tokens, cancellation, who asked) and nothing of names, trees or permissions.
import type { JsonObject } from "@mcpx/protocol";
import type { Era, LogLevel } from "../mcp/era.ts";
import type { Answers, Caller, Question, Questions } from "../mcp/exchange.ts";

export interface LinkRequest {
  method: string;
  /** As the server shall get them; the link adds what belongs to its hop. */
  params: JsonObject;
  /** Of the real caller; a modern link declares them with every request. */
  capabilities: JsonObject;
  info: JsonObject | undefined;
  logLevel: LogLevel | undefined;
  wantsProgress: boolean;
  paramHeaders: Readonly<Record<string, string>> | undefined;
  /** Who asks: for servers that are part of ourselves, and never sent. */
  caller?: Caller | undefined;
  /** What the caller calls a tool of this server, if it may use it: for the same servers. */
  nameFor?: ((tool: string) => string | undefined) | undefined;
  /** Cancels at the server; the request then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Progress (without its token) and log messages that belong to this request. */
  notify(method: string, params: JsonObject): void;
  /** Questions of a legacy server while it works on this request. */
  ask(questions: Questions): Promise<Answers>;
}

/** What a server says of itself when a link opens. */
export interface ServerFacts {
  era: Era;
  revision: string;
  capabilities: JsonObject;
  info: JsonObject | undefined;
  instructions: string | undefined;
}

/** What comes unasked. */
export interface LinkTaker {
  /**
   * list_changed, resources/updated, messages and task states that belong to no request. `isUnclear`: several calls are
   * under way, and it may belong to any of them.
   */
  notification(method: string, params: JsonObject, isUnclear?: boolean): void;
  /** Its server cannot be reached any more, and why; `undefined` when it can again. The conversation goes on. */
  reach?(why: string | undefined): void;
  /** A legacy server's question while no request is under way. */
  question(question: Question): Promise<JsonObject>;
  /** A line for people: what a child process wrote to stderr, and what the link had to drop. */
  logLine(line: string): void;
}

export interface Link {
  readonly facts: ServerFacts;
  /** Whether it is certain which request a server's question belongs to. */
  readonly tellsQuestionsApart: boolean;
  /** `false`: each request is a stranger to it, so that no answer finds its asker. */
  readonly hasSession?: boolean | undefined;
  /**
   * The result as it came, `input_required` of a modern server included. Rejects with the server's own `RpcError`, or
   * with an `McpxError`: `server_unreachable`, `server_lost`, `bad_server_answer`.
   */
  request(request: LinkRequest): Promise<JsonObject>;
  /** A notification of the client's side, such as that its roots have changed. */
  notify(method: string, params: JsonObject): void;
  /** Exactly these resources are watched from now on. */
  watch(uris: ReadonlySet<string>): void;
  /** The loudest level any caller of this link wants; legacy servers are told. */
  setLogLevel(level: LogLevel): void;
  /** The process id of the child that it speaks to, where this process started it. */
  readonly pid?: number | undefined;
  /** Resolves with why it ended; never rejects. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}
