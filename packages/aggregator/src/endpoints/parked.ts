// Questions for modern clients: a legacy server asks while it works, a modern client is asked by an answer. So the call
// is parked, its client gets the questions and a `requestState` to come back with, and the retry goes on with the same
// call: to the next questions, or to the result.
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Clock, Hold } from "@mcpx/host";
import { heapBytesOf, isMcpxError, type JsonObject, type Limits, McpxError } from "@mcpx/protocol";
import type { Account } from "../mcp/accounts.ts";
import { refusalOf } from "../mcp/asking.ts";
import type { Answers, Caller, Question, Questions } from "../mcp/exchange.ts";
import { isPlain, type RequestId, resultMessage } from "../mcp/message.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Notified } from "./notify-client.ts";
import type { Reply } from "./reply.ts";

/** One request of a client: the first of a call, or a retry of it. */
export interface Turn extends Notified {
  readonly id: RequestId;
  readonly reply: Reply;
  readonly caller: Caller;
}

interface Asked {
  question: Question;
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
}

export interface ParkableCall {
  readonly account: Account;
  readonly method: string;
  readonly params: JsonObject;
  readonly controller: AbortController;
  /** The memory it takes: what it was called with, and once it has ended while nobody waits, its outcome. */
  readonly held: Hold;
  /** Memory of the call's arguments. */
  readonly bytes: number;
  /** The latest. */
  turn: Turn;
  /** Nobody waits: the latest turn has been answered with questions. */
  isParked: boolean;
  /** What the latest turn was asked. */
  asked: Map<string, Asked>;
  /** What is to be asked next. */
  waiting: Map<string, Asked>;
  keys: number;
  isRoundDue: boolean;
  /** How it ended, if it has. */
  outcome: ((turn: Turn) => void) | undefined;
  expiresAt: number;
}

interface CallEnd {
  /** What it takes to be kept. */
  readonly bytes: number;
  tell(turn: Turn): void;
  /** Tells the client that the answer could not be kept. */
  tellLost(turn: Turn, error: McpxError): void;
}

export interface Parking {
  /** Whether a state was made here; those of servers are not looked at. */
  owns(state: unknown): state is string;
  ask(call: ParkableCall, questions: Questions): Promise<Answers>;
  /** How a call ended, told to the client that waits for it, now or later. */
  settle(call: ParkableCall, outcome: CallEnd): void;
  /** Goes on with a parked call. Throws `state_unknown` unless it is the same request of the same principal. */
  resume(state: string, retry: { account: Account; method: string; params: JsonObject }, turn: Turn): void;
  sweep(): void;
  /** Ends all calls that wait. */
  close(): void;
}

type ParkedLimits = Pick<Limits, "mcpParkedMax" | "mcpParkedPerPrincipalMax" | "mcpParkedMs">;

const gatherMs = 20;
/** The only requests whose answers may be questions. */
const mayAsk = new Set(["tools/call", "prompts/get", "resources/read"]);

export function createCall(
  turn: Turn,
  { account, method, params }: Pick<ParkableCall, "account" | "method" | "params">,
): ParkableCall {
  const controller = new AbortController();
  const bytes = heapBytesOf(params);
  const call: ParkableCall = {
    account,
    method,
    params,
    controller,
    held: account.hold(bytes),
    bytes,
    turn,
    isParked: false,
    asked: new Map(),
    waiting: new Map(),
    keys: 0,
    isRoundDue: false,
    outcome: undefined,
    expiresAt: 0,
  };
  cutWith(call, turn);
  return call;
}

/** A client that leaves takes its call with it, unless it has come back since. */
function cutWith(call: ParkableCall, turn: Turn): void {
  turn.reply.onCut(() => {
    if (call.turn === turn) abandon(call);
  });
}

function abandon(call: ParkableCall): void {
  call.controller.abort();
  const error = new McpxError("timeout", "the client gave no answer");
  for (const { reject } of [...call.asked.values(), ...call.waiting.values()]) reject(error);
  call.asked.clear();
  call.waiting.clear();
  if (call.outcome !== undefined) call.held.release();
}

export function createParking({ clock, limits }: { clock: Clock; limits: ParkedLimits }): Parking {
  const parked = new Map<string, ParkableCall>();
  // Its own: a tree below parks calls too, and its states must reach it.
  const statePrefix = `mcpx-parked:${randomBytes(9).toString("base64url")}:`;

  function leave(state: string, call: ParkableCall): void {
    if (!parked.delete(state)) return;
    call.account.parked -= 1;
  }

  /** What a server asks at once comes over its wire piece by piece, and goes together. */
  function plan(call: ParkableCall): void {
    if (call.isParked || call.isRoundDue || call.waiting.size === 0) return;
    call.isRoundDue = true;
    setTimeout(() => {
      call.isRoundDue = false;
      if (!call.isParked && call.outcome === undefined && call.waiting.size > 0) park(call);
    }, gatherMs);
  }

  function park(call: ParkableCall): void {
    const { account, turn } = call;
    if (call.controller.signal.aborted) return;
    const state = statePrefix + randomBytes(32).toString("base64url");
    call.asked = call.waiting;
    call.waiting = new Map();
    call.isParked = true;
    call.expiresAt = clock.monotonic() + limits.mcpParkedMs;
    account.parked += 1;
    parked.set(state, call);
    const inputRequests = Object.fromEntries([...call.asked].map(([key, { question }]) => [key, question]));
    const result = { resultType: "input_required", inputRequests, requestState: state };
    turn.reply.answer(resultMessage(turn.id, result));
  }

  return {
    owns: (state): state is string => typeof state === "string" && state.startsWith(statePrefix),
    async ask(call, questions) {
      checkAsk(call, questions);
      const { account } = call;
      if (parked.size >= limits.mcpParkedMax || account.parked >= limits.mcpParkedPerPrincipalMax) {
        throw new McpxError("rate_limited", "too many calls wait for their clients' answers");
      }
      const held = account.hold(heapBytesOf(questions));
      const answers = Object.entries(questions).map(([key, question]) => {
        const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
        call.keys += 1;
        call.waiting.set(`question-${call.keys}`, { question, resolve, reject });
        return promise.then((result) => [key, result] as const);
      });
      plan(call);
      return Object.fromEntries(await Promise.all(answers).finally(held.release));
    },
    settle(call, outcome) {
      const isAwaited = call.isParked && !call.controller.signal.aborted;
      call.outcome = isAwaited ? keep(call, outcome) : outcome.tell;
      if (isAwaited) return;
      call.held.release();
      if (!call.isParked) outcome.tell(call.turn);
    },
    resume(state, { account, method, params }, turn) {
      const call = parked.get(state);
      const { inputResponses = {} } = params;
      if (call === undefined || call.account.key !== account.key || !isSame(call, method, params)) {
        throw new McpxError("state_unknown");
      }
      if (!isPlain(inputResponses) || !Object.values(inputResponses).every(isPlain)) {
        throw rpcError(rpcCodes.invalidParams, "Invalid params: inputResponses must be an object of results");
      }
      // In the place of what the turn before said of its client.
      if (call.outcome === undefined) call.held.resize(call.bytes + heapBytesOf(params));
      leave(state, call);
      call.turn = turn;
      call.isParked = false;
      cutWith(call, turn);
      if (call.outcome !== undefined) {
        call.outcome(turn);
        call.held.release();
      } else answerAsked(call, inputResponses);
      plan(call);
    },
    sweep() {
      const now = clock.monotonic();
      for (const [state, call] of parked) {
        if (call.expiresAt > now && !call.controller.signal.aborted) continue;
        leave(state, call);
        abandon(call);
      }
    },
    close() {
      for (const [state, call] of parked) {
        leave(state, call);
        abandon(call);
      }
    },
  };
}

/** Somebody comes back for it; where that would take more than its principal may hold, only that it ended is kept. */
function keep({ held }: ParkableCall, { bytes, tell, tellLost }: CallEnd): (turn: Turn) => void {
  try {
    held.resize(bytes);
    return tell;
  } catch (error) {
    if (!isMcpxError(error)) throw error;
    held.resize(0);
    const lost = new McpxError(
      error.code,
      `the call has ended, and its answer was not kept: ${error.detail}`,
    );
    return (turn) => tellLost(turn, lost);
  }
}

function checkAsk({ method, turn, controller }: ParkableCall, questions: Questions): void {
  controller.signal.throwIfAborted();
  if (!mayAsk.has(method)) {
    throw rpcError(rpcCodes.methodNotFound, `Method not found: ${method} cannot be answered with questions`);
  }
  for (const question of Object.values(questions)) {
    const refusal = refusalOf(question, turn.caller);
    if (refusal !== undefined) throw refusal;
  }
}

/** Answers what was asked; what was left out is asked again. */
function answerAsked(call: ParkableCall, responses: JsonObject): void {
  const { asked } = call;
  call.asked = new Map();
  const unanswered = new Map<string, Asked>();
  for (const [key, question] of asked) {
    const result = Object.hasOwn(responses, key) ? responses[key] : undefined;
    if (isPlain(result)) question.resolve(result);
    else unanswered.set(key, question);
  }
  call.waiting = new Map([...unanswered, ...call.waiting]);
}

/** The same request, whatever the order of its members. */
function isSame(call: ParkableCall, method: string, params: JsonObject): boolean {
  return call.method === method && isDeepStrictEqual(bareParams(call.params), bareParams(params));
}

function bareParams({ _meta, requestState, inputResponses, ...rest }: JsonObject): JsonObject {
  return rest;
}
