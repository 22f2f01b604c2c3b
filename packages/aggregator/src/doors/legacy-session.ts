// A session of the legacy era, whatever carries it: requests both ways, notifications, subscriptions, a log level.
import type { Logger, Principal } from "@mcpx/host";
import { isMcpxError, type JsonObject, type Limits, McpxError } from "@mcpx/protocol";
import { isLogLevel, type LogLevel } from "../era.ts";
import type { Caller, Exchange, Questions as Wanted } from "../exchange.ts";
import type { Dialect } from "../names/dialects.ts";
import type { Profile } from "../profile.ts";
import { faultOf, RpcError, rpcCodes, rpcError } from "../rpc-error.ts";
import type { Subscription, Tree } from "../tree.ts";
import type { Account } from "./accounts.ts";
import { refusalOf } from "./asking.ts";
import { hear, isLoudEnough } from "./ear.ts";
import { progressTokenOf, withoutHop } from "./envelope.ts";
import type { Hello } from "./hello.ts";
import { legacyFault, legacyResult } from "./legacy-form.ts";
import {
  errorMessage,
  isId,
  keyOf,
  notificationMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  resultMessage,
} from "./message.ts";
import { createQuestions } from "./questions.ts";
import type { Reply } from "./reply.ts";

/** The way to a client for what belongs to no request. */
export interface Aside {
  readonly isOpen: boolean;
  send(message: JsonObject): void;
}

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
  hello: Hello;
  aside: Aside;
}

export interface LegacySession {
  readonly caller: Caller;
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

interface UnderWay {
  controller: AbortController;
  reply: Reply;
}

/** What a client hears that has not said what it wants. */
const defaultLogLevel: LogLevel = "info";
const subscriptionsMax = 1_000;
/** Of the other era; a tree need not know them. */
const notYet = new Set(["server/discover", "subscriptions/listen"]);

export function createLegacySession(options: LegacySessionOptions): LegacySession {
  const { tree, log, account, hello, aside } = options;
  const questions = createQuestions();
  const underWay = new Map<string, Set<UnderWay>>();
  const watched = new Map<string, Promise<Subscription>>();
  let lists: Promise<Subscription> | undefined;
  let logLevel = defaultLogLevel;
  let isClosed = false;

  const caller: Caller = {
    get principal() {
      return options.principal();
    },
    key: options.key,
    era: "legacy",
    capabilities: hello.capabilities,
    info: hello.info,
    dialect: options.dialect,
    profile: options.profile,
    get logLevel() {
      return logLevel;
    },
    deliver(method, params) {
      if (method === "notifications/message" && !isLoudEnough(params.level, logLevel)) return;
      aside.send(notificationMessage(method, params));
    },
    async askAside(question) {
      const refusal = refusalOf(question, caller);
      if (refusal !== undefined) throw refusal;
      if (!aside.isOpen)
        throw rpcError(rpcCodes.methodNotFound, "Method not found: the client does not listen");
      return questions.ask(question, aside.send);
    },
  };

  function exchangeOf({ method, params }: RpcRequest, { controller, reply }: UnderWay): Exchange {
    const ear = { reply, progressToken: progressTokenOf(params) };
    const { signal } = controller;
    return {
      caller,
      method,
      params: withoutHop(params),
      wantsProgress: ear.progressToken !== undefined,
      paramHeaders: undefined,
      signal,
      notify: (method, params) => hear(ear, logLevel, method, params),
      ask: (wanted) => ask(wanted, reply, signal),
    };
  }

  async function ask(wanted: Wanted, reply: Reply, signal: AbortSignal): Promise<Record<string, JsonObject>> {
    const entries = Object.entries(wanted);
    const refusal = entries
      .map(([, question]) => refusalOf(question, caller))
      .find((error) => error !== undefined);
    if (refusal !== undefined) throw refusal;
    const answers = entries.map(async ([key, question]) => {
      const answer = await questions.ask(question, (message) => reply.before(message), signal);
      return [key, answer] as const;
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  async function handle(message: RpcRequest, way: UnderWay): Promise<JsonObject> {
    const { method, params } = message;
    if (notYet.has(method)) throw new McpxError("unknown_method");
    switch (method) {
      case "ping":
        return {};
      case "initialize":
        throw rpcError(rpcCodes.invalidRequest, "Invalid Request: this session is initialized");
      case "logging/setLevel":
        if (!isLogLevel(params.level))
          throw rpcError(rpcCodes.invalidParams, "Invalid params: no such level");
        logLevel = params.level;
        tree.tell(caller, method, { level: logLevel });
        return {};
      case "resources/subscribe":
        return watch(uriOf(params));
      case "resources/unsubscribe":
        return unwatch(uriOf(params));
      default:
        return legacyResult(await tree.handle(exchangeOf(message, way)));
    }
  }

  async function watch(uri: string): Promise<JsonObject> {
    if (watched.size >= subscriptionsMax)
      throw new McpxError("rate_limited", "too many resources are watched");
    const known = watched.get(uri);
    const subscribed = known ?? tree.subscribe(caller, { resourceSubscriptions: [uri] }, deliver);
    watched.set(uri, subscribed);
    try {
      const { granted } = await subscribed;
      if (granted.resourceSubscriptions?.includes(uri)) return {};
    } catch (error) {
      unwatch(uri);
      throw error;
    }
    unwatch(uri);
    throw new McpxError("unknown_resource");
  }

  function unwatch(uri: string): JsonObject {
    close(watched.get(uri));
    watched.delete(uri);
    return {};
  }

  function deliver(method: string, params: JsonObject): void {
    if (!isClosed) aside.send(notificationMessage(method, params));
  }

  /** Whatever becomes of it. */
  function close(subscribed: Promise<Subscription> | undefined): void {
    subscribed?.then(
      (subscription) => subscription.close(),
      () => {},
    );
  }

  function begin(key: string, reply: Reply): UnderWay {
    const way = { controller: new AbortController(), reply };
    const same = underWay.get(key);
    if (same === undefined) underWay.set(key, new Set([way]));
    else same.add(way);
    account.requests += 1;
    reply.onCut(() => way.controller.abort());
    return way;
  }

  function finish(key: string, way: UnderWay): void {
    account.requests -= 1;
    const same = underWay.get(key);
    same?.delete(way);
    if (same?.size === 0) underWay.delete(key);
  }

  async function serve(message: RpcRequest, reply: Reply): Promise<void> {
    const { id, method } = message;
    const key = keyOf(id);
    let way: UnderWay | undefined;
    try {
      if (account.requests >= options.limits.mcpRequestsPerPrincipalMax) {
        throw new McpxError("rate_limited", "too many requests are under way");
      }
      way = begin(key, reply);
      reply.answer(resultMessage(id, await handle(message, way)));
    } catch (error) {
      if (!isMcpxError(error) && !(error instanceof RpcError) && !way?.controller.signal.aborted) {
        log.error({ err: error, method }, "a request failed");
      }
      reply.answer(errorMessage(id, legacyFault(faultOf(error))));
    } finally {
      if (way !== undefined) finish(key, way);
    }
  }

  function cancel({ requestId }: JsonObject): void {
    if (!isId(requestId)) return;
    for (const { controller, reply } of underWay.get(keyOf(requestId)) ?? []) {
      reply.drop();
      controller.abort();
    }
  }

  return {
    caller,
    revision: hello.revision,
    get isBusy() {
      return underWay.size > 0;
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
    request: (message, reply) => void serve(message, reply),
    notification({ method, params }) {
      if (isClosed) return;
      if (method === "notifications/cancelled") cancel(params);
      else if (method === "notifications/roots/list_changed") tree.tell(caller, method, withoutHop(params));
      else if (method === "notifications/initialized") {
        const wishes = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
        lists ??= tree.subscribe(caller, wishes, deliver);
        lists.catch((error) => log.warn({ err: error }, "a session hears of no changes"));
      }
    },
    response: (message) => questions.answer(message),
    close() {
      if (isClosed) return;
      isClosed = true;
      for (const same of underWay.values()) for (const { controller } of same) controller.abort();
      questions.close();
      close(lists);
      for (const subscribed of watched.values()) close(subscribed);
      tree.leave(caller);
    },
  };
}

function uriOf({ uri }: JsonObject): string {
  if (typeof uri === "string" && uri !== "" && uri.length <= 8_192) return uri;
  throw rpcError(rpcCodes.invalidParams, "Invalid params: uri must be a string");
}
