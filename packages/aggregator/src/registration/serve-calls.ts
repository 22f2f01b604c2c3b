// What a subserver asks of the tree over its own connection: it lists and calls tools as any caller with its token, and
// its budget pays for the calls. [AX-11.4-3]
import type { Principal } from "@mcpx/host";
import { isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import type { BudgetAccount } from "../budgets/budget.ts";
import { notifyClient } from "../endpoints/notify-client.ts";
import type { Reply } from "../endpoints/reply.ts";
import { progressTokenOf, withoutHop } from "../endpoints/request-meta.ts";
import { createUnderWay, type OneUnderWay } from "../endpoints/under-way.ts";
import { createAccount } from "../mcp/accounts.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { errorMessage, type RpcRequest, resultMessage } from "../mcp/message.ts";
import { innerPrincipal, plainCaller } from "../mcp/plain-caller.ts";
import { faultOf, RpcError } from "../mcp/rpc-error.ts";
import { registeredOf } from "../servers/server-origin.ts";
import { budgetHolder, type RegistrarState, type Subserver } from "./registrar.ts";

export interface SubserverCalls {
  /** Answers by the reply, sooner or later; never rejects. Without a principal there is no token, and nothing to use. */
  serve(request: RpcRequest, principal: Principal | undefined, reply: Reply): Promise<void>;
  /** `notifications/cancelled` */
  cancel(params: JsonObject): void;
}

const methods: ReadonlySet<string> = new Set(["tools/list", "tools/call"]);

/** Whether a request is one to the tree, and none of registration. */
export function isCall(method: string): boolean {
  return methods.has(method);
}

const keyStart = "subserver:";

/** Ends with its connection. */
export function createCalls(state: RegistrarState, subserver: Subserver): SubserverCalls {
  const { registration, sessionId, standing, channel } = subserver;
  const { segment } = registration;
  const key = `${keyStart}${sessionId}:${budgetHolder(registration, standing)}`;
  const nobody = innerPrincipal(standing.identity, []);
  const account = createAccount(state.calls.ledger, standing.registrant);
  const underWay = createUnderWay(account, state.calls.subserverCallsMax);
  const callerFor = (principal: Principal): Caller => ({
    ...plainCaller(principal, key),
    registeredAs: segment,
  });
  void channel.ended.then(() => {
    underWay.abort();
    state.calls.leave(callerFor(nobody));
  });

  return {
    cancel: underWay.cancel,
    async serve(request, principal = nobody, reply) {
      const { id, method } = request;
      let one: OneUnderWay | undefined;
      try {
        checkLease(subserver);
        one = underWay.begin(request, reply);
        // Many may have come in one piece: each is as much work as a request that comes alone.
        await state.tree.turns?.nextTurn(state.tree.turns.account(standing.registrant));
        const exchange = exchangeOf(request, callerFor(principal), one.signal, reply);
        reply.answer(resultMessage(id, await state.calls.handle(exchange)));
      } catch (error) {
        const isOver = one?.signal.aborted === true;
        const isExpected = isMcpxError(error) || error instanceof RpcError || isOver;
        if (!isExpected) state.log.error({ err: error, method }, "request of a subserver failed");
        reply.answer(errorMessage(id, faultOf(isOver ? new McpxError("registration_unknown") : error)));
      } finally {
        one?.done();
      }
    },
  };
}

/** Another aggregator may have it by now. [AX-13.3-3] */
function checkLease({ isOver, server }: Subserver): void {
  if (isOver) throw new McpxError("registration_unknown");
  if (registeredOf(server)?.refusal() !== undefined) {
    throw new McpxError("registration_unknown", "its lease has ended: send mcpax/heartbeat");
  }
}

function exchangeOf(
  { method, params }: RpcRequest,
  caller: Caller,
  signal: AbortSignal,
  reply: Reply,
): Exchange {
  const progressToken = progressTokenOf(params);
  return {
    caller,
    method,
    params: withoutHop(params),
    wantsProgress: progressToken !== undefined,
    paramHeaders: undefined,
    signal,
    notify: (what, about) => notifyClient({ reply, progressToken }, caller.logLevel, what, about),
    ask: async () => {
      throw new McpxError(
        "unknown_method",
        "a subserver that calls a tool cannot answer questions of that tool",
      );
    },
  };
}

/** A call that a gate has let go later is paid for like any other: the gate keeps its caller's key. */
export function payerOf(
  { ruleFor, budgets }: Pick<RegistrarState, "ruleFor" | "budgets">,
  callerKey: string,
): BudgetAccount | undefined {
  if (!callerKey.startsWith(keyStart)) return undefined;
  const holder = callerKey.slice(callerKey.indexOf(":", keyStart.length) + 1);
  const [segment = ""] = holder.split(" ", 1);
  const { budget } = ruleFor(segment);
  return budget && budgets.accountFor(holder, budget);
}
