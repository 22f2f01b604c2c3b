// A call by somebody who may not make it: proposed to the room, waited for a little, and asked for again later. The same
// call is never proposed twice while one waits, and an outcome nobody has seen is given rather than asked for anew: also
// that of a call which somebody made when its proposal was over.
import type { Proposal, Room } from "@mcpx/client";
import { canonicalJson, type JsonObject, McpxError, type WaitAdvice, written } from "@mcpx/protocol";
import { advise } from "../catalogue/advice.ts";
import type { LinkRequest } from "../links/link.ts";
import { isOver, outcomeResult } from "./proposal-outcome.ts";

interface ProposedCall {
  peer: string;
  tool: string;
  args: JsonObject;
}

type Waiter = Pick<LinkRequest, "signal" | "notify" | "params" | "caller" | "nameFor">;

export interface Proposing {
  call(call: ProposedCall, waiter: Waiter): Promise<JsonObject>;
  /** The outcome of this participant's proposal, or that it is still open after `ms`. */
  wait(id: string, ms: number, waiter: Waiter): Promise<JsonObject>;
  close(): void;
}

interface Made {
  readonly id: string;
  /** Rejects where the gateway has not taken it. */
  readonly published: Promise<void>;
  /** Made here; what was found may be somebody's who still wants it. */
  readonly isOwn: boolean;
  holders: number;
}

/** Proposals of this participant whose outcome the caller may not have seen. */
const madeMax = 256;
const progressMs = 1_000;
/** OpenAI's agents in Python give up after 5 s unless told otherwise: the answer must be there before. */
const holdMsDefault = 4_000;
/** How long after a proposal's life its outcome stands for the same call. */
const outcomeMs = 300_000;

export interface ProposingOptions {
  /** How long a call is held for its outcome; 4 s unless given. */
  holdMs?: number | undefined;
  /** How long others may take; 5 minutes unless given. */
  ttlMs?: number | undefined;
}

export function createProposing(
  room: Room,
  { holdMs = holdMsDefault, ttlMs }: ProposingOptions = {},
): Proposing {
  const made = new Map<string, Made>();
  /** Proposals whose late call the caller knows of. */
  const told = new Set<string>();
  /** Those who look again when a proposal has changed, and those who are told when none will any more. */
  const watchers = new Set<() => void>();
  const enders = new Set<() => void>();
  room.addEventListener("proposal", () => {
    for (const look of [...watchers]) look();
  });

  function find({ peer }: ProposedCall, key: string): Made | undefined {
    const own = made.get(key);
    if (own !== undefined && !isLongAgo(own)) return own;
    made.delete(key);
    // Of a connection before this one, or over when the call was made after all.
    const before = room.proposals
      .all()
      .find((one) => isWanted(one) && one.targets.length === 1 && keyOf(one) === key);
    if (before === undefined || before.targets[0] !== peer) return undefined;
    return remember(key, { id: before.id, published: Promise.resolve(), isOwn: false, holders: 0 });
  }

  function isWanted({ id, proposer, status, lateCall, expiresAt }: Proposal): boolean {
    if (proposer !== room.id) return false;
    const isNews = lateCall !== undefined && !told.has(id) && Date.now() <= expiresAt + outcomeMs;
    return status === "pending" || isNews;
  }

  function propose({ peer, tool, args }: ProposedCall, key: string): Made {
    if (made.size >= madeMax) makeSpace();
    const params = { name: tool, arguments: args };
    const { id, result } = room.propose({ to: peer, method: "tools/call", params, ttlMs });
    const published = Promise.withResolvers<void>();
    published.promise.catch(() => {});
    const isSeen = () => room.proposals.get(id) !== undefined;
    const look = () => {
      if (!isSeen()) return;
      watchers.delete(look);
      published.resolve();
    };
    watchers.add(look);
    // Before it was seen only its publication can have failed.
    result.catch((error: unknown) => {
      look();
      if (!watchers.delete(look)) return;
      made.delete(key);
      published.reject(error);
    });
    return remember(key, { id, published: published.promise, isOwn: true, holders: 0 });
  }

  function isLongAgo({ id, holders }: Made): boolean {
    const proposal = room.proposals.get(id);
    return holders === 0 && (proposal === undefined || Date.now() > proposal.expiresAt + outcomeMs);
  }

  function remember(key: string, one: Made): Made {
    made.set(key, one);
    return one;
  }

  function makeSpace(): void {
    for (const [key, { id }] of made) {
      const proposal = room.proposals.get(id);
      if (proposal !== undefined && !isOver(proposal)) continue;
      made.delete(key);
      return;
    }
    throw new McpxError("rate_limited", `${madeMax} of your proposals are open, and no more are allowed`);
  }

  async function outcomeOf(id: string, ms: number, waiter: Waiter): Promise<Proposal> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = () => {
      const proposal = room.proposals.get(id);
      if (proposal !== undefined && isOver(proposal)) resolve();
    };
    const timer = setTimeout(resolve, ms);
    let seconds = 0;
    const progress = setInterval(() => {
      seconds += 1;
      tell(id, seconds, waiter);
    }, progressMs);
    const onAbort = () => reject(waiter.signal.reason);
    const onEnd = () => reject(new McpxError("server_lost", "the room was left"));
    watchers.add(look);
    enders.add(onEnd);
    waiter.signal.addEventListener("abort", onAbort, { once: true });
    if (waiter.signal.aborted) onAbort();
    look();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      clearInterval(progress);
      watchers.delete(look);
      enders.delete(onEnd);
      waiter.signal.removeEventListener("abort", onAbort);
    }
    const proposal = room.proposals.get(id);
    if (proposal === undefined) throw unknownProposal(id);
    return proposal;
  }

  /** What was seen to its end is forgotten: the same call then is another one. */
  function take(proposal: Proposal, waiter: Waiter): JsonObject {
    if (isOver(proposal)) for (const [key, { id }] of made) if (id === proposal.id) made.delete(key);
    if (isOver(proposal) && proposal.lateCall !== undefined) {
      for (const id of told) if (room.proposals.get(id) === undefined) told.delete(id);
      told.add(proposal.id);
    }
    return outcomeResult(proposal, waitAdvice(waiter, proposal.id));
  }

  async function hold(one: Made, waiter: Waiter): Promise<JsonObject> {
    one.holders += 1;
    try {
      await one.published;
      return take(await outcomeOf(one.id, holdMs, waiter), waiter);
    } catch (error) {
      // The caller does not want it any more, and nobody else waits.
      if (waiter.signal.aborted && one.isOwn && one.holders === 1) await withdraw(room, one.id);
      throw error;
    } finally {
      one.holders -= 1;
    }
  }

  return {
    call(call, waiter) {
      const key = canonicalJson([call.peer, call.tool, call.args]);
      return hold(find(call, key) ?? propose(call, key), waiter);
    },
    async wait(id, ms, waiter) {
      const proposal = room.proposals.get(id);
      // Others' are none of theirs.
      if (proposal?.proposer !== room.id) throw unknownProposal(id);
      return take(await outcomeOf(id, ms, waiter), waiter);
    },
    close() {
      for (const end of [...enders]) end();
    },
  };
}

function keyOf({ targets, method, params }: Proposal): string | undefined {
  if (method !== "tools/call") return undefined;
  return canonicalJson([targets[0], params.name ?? null, params.arguments ?? {}]);
}

/** How the caller waits for it: with the room's own tool, or by the same call where it may not use that. */
function waitAdvice({ nameFor = (tool) => tool, caller, params }: Waiter, id: string): WaitAdvice {
  const tool = nameFor("proposals.wait");
  const called = written(params.name);
  const again = { tool: nameFor(called) ?? called, arguments: params.arguments ?? {} };
  return advise(caller, tool === undefined ? again : { tool, arguments: { proposal_id: id } });
}

/** Also where nobody wants progress: who waits for a human is not late. */
function tell(id: string, progress: number, { notify }: Waiter): void {
  const message = `Proposal ${id} waits for somebody to decide`;
  notify("notifications/progress", { progress, message });
}

async function withdraw(room: Room, id: string): Promise<void> {
  const isOpen = room.proposals.get(id)?.status === "pending";
  if (isOpen && room.state !== "closed")
    await room.proposals.withdraw([id], "the caller has cancelled").catch(() => {});
}

function unknownProposal(id: string): McpxError {
  return new McpxError("bad_params", `no proposal of yours has the id ${id.slice(0, 100)}`);
}
