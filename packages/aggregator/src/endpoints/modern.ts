// Requests of the modern era, whatever carries them: each one says who asks, stands for itself, and is answered by a
// result, an error, or questions.
import type { Clock, Logger } from "@mcpx/host";
import {
  gatesAheadMethod,
  heapBytesOf,
  isMcpxError,
  type JsonObject,
  type Limits,
  McpxError,
} from "@mcpx/protocol";
import type { Account, Accounts } from "../mcp/accounts.ts";
import { metaKeys, modernRevision } from "../mcp/era.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { errorMessage, type RequestId, type RpcRequest, resultMessage } from "../mcp/message.ts";
import { faultOf, RpcError } from "../mcp/rpc-error.ts";
import type { Tree } from "../mcp/tree.ts";
import { type Listening, listen } from "./listen.ts";
import { notifyClient } from "./notify-client.ts";
import { createCall, createParking, type ParkableCall, type Turn } from "./parked.ts";
import { answerStatus } from "./refusal.ts";
import type { Reply } from "./reply.ts";
import { metaOf, progressTokenOf, withoutHop } from "./request-meta.ts";

export interface ModernOptions {
  tree: Tree;
  accounts: Accounts;
  clock: Clock;
  log: Logger;
  limits: Limits;
}

/** A request whose envelope was found good. */
export interface ModernRequest {
  message: RpcRequest;
  caller: Caller;
  paramHeaders: Readonly<Record<string, string>>;
  reply: Reply;
}

export interface Modern {
  /** Answers by the reply, sooner or later; never throws. */
  serve(request: ModernRequest): void;
  sweep(): void;
  /** Ends what listens, well, and what waits for answers. */
  drain(): void;
}

/** Of the other era; a tree need not know them. */
const removed = new Set([
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);
const discoverTtlMs = 60_000;

export function createModern({ tree, accounts, clock, log, limits }: ModernOptions): Modern {
  const parking = createParking({ clock, limits });
  let serverInfo: JsonObject | undefined;
  const listening: Listening = {
    tree,
    listensMax: limits.mcpListensPerPrincipalMax,
    enders: new Set(),
    serverInfo: () => serverInfo,
  };

  function fail(id: RequestId, method: string, reply: Reply, error: unknown, isAborted = false): void {
    // What was cancelled ends with whatever its signal says.
    if (!isMcpxError(error) && !(error instanceof RpcError) && !isAborted)
      log.error({ err: error, method }, "request failed");
    const fault = faultOf(error);
    reply.answer(errorMessage(id, fault), answerStatus(method, fault.code));
  }

  /** Servers say who they are with every result; each hop for itself. */
  function signed(result: JsonObject): JsonObject {
    if (serverInfo === undefined) return { resultType: "complete", ...result };
    return {
      // Servers of the other era do not say it.
      resultType: "complete",
      ...result,
      _meta: { ...metaOf(result), [metaKeys.serverInfo]: serverInfo },
    };
  }

  async function discover({ message, caller, reply }: ModernRequest): Promise<void> {
    const { info, capabilities, instructions } = await tree.describe(caller);
    serverInfo = info;
    const result = {
      resultType: "complete",
      supportedVersions: [modernRevision],
      capabilities,
      ...(instructions !== undefined && { instructions }),
      ttlMs: discoverTtlMs,
      cacheScope: "private",
    };
    reply.answer(resultMessage(message.id, signed(result)));
  }

  async function start(
    { message, caller, paramHeaders, reply }: ModernRequest,
    account: Account,
  ): Promise<void> {
    const { method, id } = message;
    if (account.requests >= limits.mcpRequestsPerPrincipalMax) {
      throw new McpxError("rate_limited", "too many requests are under way");
    }
    const progressToken = progressTokenOf(message.params);
    // The tree above is believed, and the call checks it. [AX-7.2-2]
    const hasRoute = caller.isParent === true && (method === "tools/call" || method === gatesAheadMethod);
    const params = withoutHop(message.params, { hasRoute });
    const call = createCall({ id, reply, caller, progressToken }, { account, method, params });
    account.requests += 1;
    const tellLost = (turn: Turn, error: unknown) => fail(turn.id, method, turn.reply, error);
    try {
      const result = await tree.handle(exchangeOf(call, paramHeaders));
      parking.settle(call, {
        bytes: call.isParked ? heapBytesOf(result) : 0,
        tell: (turn) => turn.reply.answer(resultMessage(turn.id, signed(result))),
        tellLost,
      });
    } catch (error) {
      const { aborted } = call.controller.signal;
      const tell = (turn: Turn) => fail(turn.id, method, turn.reply, error, aborted);
      parking.settle(call, { bytes: 0, tell, tellLost });
    } finally {
      account.requests -= 1;
    }
  }

  function exchangeOf(call: ParkableCall, paramHeaders: Readonly<Record<string, string>>): Exchange {
    const { method, params, controller, turn } = call;
    return {
      caller: turn.caller,
      method,
      params,
      wantsProgress: turn.progressToken !== undefined,
      paramHeaders,
      signal: controller.signal,
      notify(method, params) {
        if (!call.isParked) notifyClient(call.turn, call.turn.caller.logLevel, method, params);
      },
      ask: (questions) => parking.ask(call, questions),
    };
  }

  function resume({ message, caller, reply }: ModernRequest, account: Account, state: string): void {
    const { method, id, params } = message;
    const turn: Turn = { id, reply, caller, progressToken: progressTokenOf(params) };
    parking.resume(state, { account, method, params }, turn);
  }

  async function serve(request: ModernRequest): Promise<void> {
    const { message, caller } = request;
    const { method, params } = message;
    if (removed.has(method)) throw new McpxError("unknown_method");
    if (method === "server/discover") return discover(request);
    serverInfo ??= (await tree.describe(caller)).info;
    const account = accounts.of(caller.principal);
    if (method === "subscriptions/listen") return listen(listening, request, account);
    if (parking.owns(params.requestState)) return resume(request, account, params.requestState);
    return start(request, account);
  }

  return {
    serve(request) {
      const { message, reply } = request;
      serve(request).catch((error) => fail(message.id, message.method, reply, error));
    },
    sweep: () => parking.sweep(),
    drain() {
      for (const end of listening.enders) end();
      parking.close();
    },
  };
}
