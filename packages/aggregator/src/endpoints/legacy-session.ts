// A session of the legacy era, whatever carries it: requests both ways, notifications, subscriptions, a log level.
import type { Logger, Principal } from "@mcpx/host";
import { heapBytesOf, isMcpxError, type JsonObject, type Limits, McpxError } from "@mcpx/protocol";
import type { Account } from "../mcp/accounts.ts";
import { refusalOf } from "../mcp/asking.ts";
import { isLogLevel, type LogLevel } from "../mcp/era.ts";
import type { Answers, Questions as Asked, Caller, Exchange } from "../mcp/exchange.ts";
import {
  errorMessage,
  notificationMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  resultMessage,
} from "../mcp/message.ts";
import type { Profile } from "../mcp/profile.ts";
import { faultOf, RpcError, rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Deliver, Tree } from "../mcp/tree.ts";
import type { Dialect } from "../names/dialects.ts";
import type { Hello } from "./hello.ts";
import { legacyFault, legacyResult } from "./legacy-form.ts";
import { notifyClient } from "./notify-client.ts";
import { createQuestions, type Questions } from "./questions.ts";
import type { Reply } from "./reply.ts";
import { progressTokenOf, withoutHop } from "./request-meta.ts";
import { isChange, unasked } from "./unasked.ts";
import { createUnderWay, type OneUnderWay, type UnderWay } from "./under-way.ts";
import { createWatching, type Watching } from "./watching.ts";

export interface LegacySessionOptions {
  tree: Tree;
  log: Logger;
  limits: Pick<Limits, "mcpRequestsPerPrincipalMax">;
  account: Account;
  /** The latest token's. */
  principal: () => Principal;
  key: string;
  dialect: Dialect;
  profile: Profile | undefined;
  place?: string | undefined;
  hello: Hello;
  /** The way to the client for what belongs to no request. */
  aside: Aside;
}

interface Aside {
  readonly isOpen: boolean;
  /** The client does not read what it was sent. */
  readonly isBehind: boolean;
  send(message: JsonObject): void;
}

export interface LegacySession {
  readonly revision: Hello["revision"];
  /** Whether a request is under way. */
  readonly isBusy: boolean;
  /** What `initialize` is answered with. */
  greet(): Promise<JsonObject>;
  /** Answers by the reply, sooner or later; never throws. */
  request(message: RpcRequest, reply: Reply): void;
  notification(message: RpcNotification): void;
  response(message: RpcResponse): void;
  close(): void;
}

/** What the verbs of a session share. */
interface State {
  readonly options: LegacySessionOptions;
  readonly caller: Caller;
  readonly questions: Questions;
  readonly underWay: UnderWay;
  readonly watching: Watching;
  /** As the client has set it. */
  logLevel: LogLevel | undefined;
}

/** The least severe log level for a client that has set none: of its own requests, and of notifications. */
const defaultLogLevel: LogLevel = "info";
const unaskedLogLevel: LogLevel = "warning";
/** Of the other era; a tree need not know them. */
const notYet = new Set(["server/discover", "subscriptions/listen"]);

export function createLegacySession(options: LegacySessionOptions): LegacySession {
  const { tree, log, hello, aside } = options;
  let isClosed = false;
  const questions = createQuestions();
  // Kept for as long as the session: what its client says of itself.
  const held = options.account.hold(heapBytesOf(hello));
  const deliver = (method: string, params: JsonObject) => {
    if (isClosed) return true;
    const level = state.logLevel ?? unaskedLogLevel;
    const notices = unasked({ level, hasForeign: true, isRendered: true }, method, params);
    if (notices.length > 0 && aside.isBehind && !isChange(method)) return false;
    for (const [shown, about] of notices) aside.send(notificationMessage(shown, about));
    return true;
  };
  const underWay = createUnderWay(options.account, options.limits.mcpRequestsPerPrincipalMax);
  const caller = callerOf(options, { questions, underWay, deliver, logLevel: () => levelOf(state) });
  const state: State = {
    options,
    caller,
    questions,
    underWay,
    watching: createWatching({ tree, caller, log, deliver, hold: options.account.hold }),
    logLevel: undefined,
  };
  const { watching } = state;

  return {
    revision: hello.revision,
    get isBusy() {
      return !underWay.isEmpty;
    },
    async greet() {
      const { info, capabilities, instructions } = await tree.describe(caller);
      return {
        protocolVersion: hello.revision,
        capabilities,
        serverInfo: info,
        ...(instructions !== undefined && { instructions }),
      };
    },
    request: (message, reply) => void serve(state, message, reply),
    notification({ method, params }) {
      if (isClosed) return;
      if (method === "notifications/cancelled") underWay.cancel(params);
      else if (method === "notifications/initialized") watching.lists();
      else if (method === "notifications/roots/list_changed") tree.tell(caller, method, withoutHop(params));
    },
    response: (message) => questions.answer(message),
    close() {
      if (isClosed) return;
      isClosed = true;
      held.release();
      underWay.abort();
      questions.close();
      watching.close();
      tree.leave(caller);
    },
  };
}

/** The log level for messages that belong to the client's requests. */
function levelOf({ logLevel }: State): LogLevel {
  return logLevel ?? defaultLogLevel;
}

interface CallerParts extends Pick<State, "questions" | "underWay"> {
  deliver: Deliver;
  logLevel(): LogLevel;
}

function callerOf(
  options: LegacySessionOptions,
  { questions, underWay, deliver, logLevel }: CallerParts,
): Caller {
  const { hello, aside, account, key, dialect, profile, place } = options;
  const caller: Caller = {
    get principal() {
      return options.principal();
    },
    key,
    era: "legacy",
    capabilities: hello.capabilities,
    info: hello.info,
    dialect,
    profile,
    place,
    get logLevel() {
      return logLevel();
    },
    deliver,
    async askAside(question) {
      const refusal = refusalOf(question, caller);
      if (refusal !== undefined) throw refusal;
      // Clients open the stream for this a moment after their first requests; those bring it as well.
      const reply = aside.isOpen ? undefined : underWay.oldest;
      if (!aside.isOpen && reply === undefined)
        throw rpcError(
          rpcCodes.methodNotFound,
          "Method not found: the client has no open stream that could bring it a request",
        );
      const held = account.hold(heapBytesOf(question));
      const send = (message: JsonObject) =>
        reply === undefined ? aside.send(message) : reply.before(message);
      return await questions.ask(question, send).finally(held.release);
    },
  };
  return caller;
}

async function serve(state: State, message: RpcRequest, reply: Reply): Promise<void> {
  const { id, method } = message;
  let one: OneUnderWay | undefined;
  try {
    one = state.underWay.begin(message, reply);
    reply.answer(resultMessage(id, await handle(state, message, one)));
  } catch (error) {
    // What was cancelled ends with whatever its signal says.
    if (!isMcpxError(error) && !(error instanceof RpcError) && !one?.signal.aborted) {
      state.options.log.error({ err: error, method }, "request failed");
    }
    reply.answer(errorMessage(id, legacyFault(faultOf(error))));
  } finally {
    one?.done();
  }
}

async function handle(state: State, message: RpcRequest, one: OneUnderWay): Promise<JsonObject> {
  const { caller, watching, options } = state;
  const { method, params } = message;
  if (notYet.has(method)) throw new McpxError("unknown_method");
  switch (method) {
    case "ping":
      return {};
    case "initialize":
      throw rpcError(rpcCodes.invalidRequest, "Invalid Request: this session is initialized");
    case "logging/setLevel":
      if (!isLogLevel(params.level))
        throw rpcError(
          rpcCodes.invalidParams,
          "Invalid params: level must be one of the log levels of MCP, such as info",
        );
      state.logLevel = params.level;
      options.tree.tell(caller, method, { level: params.level });
      return {};
    case "resources/subscribe":
      return watching.subscribe(params);
    case "resources/unsubscribe":
      return watching.unsubscribe(params);
    default:
      return legacyResult(await options.tree.handle(exchangeOf(state, message, one)));
  }
}

function exchangeOf(state: State, { method, params }: RpcRequest, one: OneUnderWay): Exchange {
  const { reply, signal } = one;
  const notified = { reply, progressToken: progressTokenOf(params) };
  return {
    caller: state.caller,
    method,
    params: withoutHop(params),
    wantsProgress: notified.progressToken !== undefined,
    paramHeaders: {},
    signal,
    notify: (method, params) => notifyClient(notified, levelOf(state), method, params),
    ask: (asked) => ask(state, asked, one),
  };
}

/** All at once, each as a request on the stream of the one it belongs to. */
async function ask({ caller, questions, options }: State, asked: Asked, one: OneUnderWay): Promise<Answers> {
  const entries = Object.entries(asked);
  for (const [, question] of entries) {
    const refusal = refusalOf(question, caller);
    if (refusal !== undefined) throw refusal;
  }
  const held = options.account.hold(heapBytesOf(asked));
  const answers = entries.map(async ([key, question]) => {
    const answer = await questions.ask(question, (message) => one.reply.before(message), one.signal);
    return [key, answer] as const;
  });
  return Object.fromEntries(await Promise.all(answers).finally(held.release));
}
