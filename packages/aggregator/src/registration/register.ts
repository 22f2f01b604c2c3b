// `mcpax/register`, from top to bottom: a server that passes every step is part of the tree. [AX-6.1-1]
import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject } from "@mcpx/protocol";
import {
  deadlineMs,
  leaseMs,
  McpxError,
  type Registration,
  type RegistrationAnswer,
  readRegistration,
} from "@mcpx/protocol";
import type { Channel } from "./channel.ts";
import type { WireEnd } from "./channel-wire.ts";
import { mount } from "./mount.ts";
import {
  announceLess,
  type Credential,
  checkCycle,
  checkSubtreeSize,
  giveBack,
  keepMsOf,
  nothingPending,
  type RegistrarState,
  type Standing,
  type Subserver,
} from "./registrar.ts";
import { supersede } from "./remove.ts";
import { sortIds } from "./subserver-ids.ts";

export interface Applicant {
  readonly credential: Credential;
  readonly channel: Channel;
  readonly wireEnd: WireEnd;
  readonly sessionId: string;
  /** Asks the other side for its `parent_id`; `undefined` where it does not say. [AX-13.4-2] */
  askParent(): Promise<string | null | undefined>;
}

export interface Registered {
  subserver: Subserver;
  answer: RegistrationAnswer;
}

export async function register(
  state: RegistrarState,
  applicant: Applicant,
  params: JsonObject,
): Promise<Registered> {
  const registration = readRegistration(params);
  const { segment } = registration;
  checkSubserverCount(state, segment);
  const standing = await state.prove(registration, applicant.credential);
  // Again, and held only now: who may not have the segment keeps nobody out of it while that is found out. [B-REG-1]
  checkSubserverCount(state, segment);
  state.pending.set(segment, nothingPending());
  try {
    checkSubtree(registration, standing);
    if (applicant.credential.isLocal !== true) checkShare(state, registration, standing);
    checkPlace(state, registration, standing);
    const { subserverId, subtreeIds = [] } = registration;
    checkCycle(state, [subserverId, ...subtreeIds]);
    await checkParent(state, registration, applicant);
    await claim(state, registration, standing);
    return await admit(state, registration, standing, applicant);
  } finally {
    state.pending.delete(segment);
    const { subserverId } = registration;
    if (state.arriving.get(subserverId) === segment) state.arriving.delete(subserverId);
  }
}

function checkSubserverCount({ bySegment, pending, subserversMax }: RegistrarState, segment: string): void {
  if (pending.has(segment)) throw conflict(segment, "another registration of this segment is under way");
  if (bySegment.size + pending.size >= subserversMax && !bySegment.has(segment)) {
    throw new McpxError("too_many_subservers", `no more than ${subserversMax} can register here`);
  }
}

/** One principal does not take all the places, whatever segments it may have. */
function checkShare(state: RegistrarState, { segment }: Registration, { registrant }: Standing): void {
  const { bySegment, subserversPerPrincipalMax } = state;
  if (bySegment.get(segment)?.standing.registrant === registrant) return;
  let own = 0;
  for (const { standing } of bySegment.values()) if (standing.registrant === registrant) own += 1;
  if (own < subserversPerPrincipalMax) return;
  const detail = `you have registered ${own}, the limit for one principal is ${subserversPerPrincipalMax}`;
  throw new McpxError("too_many_subservers", detail);
}

/** Ids of others are believed of one that has proven who it is: a false one would cut us off from a tree above. */
function checkSubtree({ subtreeIds, segment }: Registration, { isProven }: Standing): void {
  if (isProven || subtreeIds === undefined) return;
  throw new McpxError("authority_unproven", "an aggregator registers only where its segment is proven", {
    suggestion: `Get a token with \`mcpx token --segment ${segment}\` at the aggregator`,
  });
}

/** First come, first served; who was here before comes back to its own place. [AX-4.2-1] [AX-4.2-4] */
function checkPlace(state: RegistrarState, { segment, subserverId }: Registration, standing: Standing): void {
  const holder = state.bySegment.get(segment);
  // A name would not say any more whether its first part is the root's or the subserver's.
  if (segment === state.tree.rootSegment)
    throw conflict(segment, "the segment is the root segment of this tree itself");
  if (holder === undefined) {
    if (state.tree.bySegment.has(segment))
      throw conflict(segment, "a server of the configuration has this segment");
  } else if (!isSame(holder, subserverId, standing))
    throw conflict(segment, "another subserver has this segment");
  for (const other of state.bySegment.values()) {
    if (other === holder || other.registration.subserverId !== subserverId || !other.isAlive) continue;
    throw new McpxError(
      "duplicate_subserver",
      `the subserver_id is registered here as ${other.registration.segment}`,
    );
  }
  // Of several at once the first: what follows waits for others, and this is known before. [AX-13.4-1]
  const first = state.arriving.get(subserverId) ?? segment;
  if (first !== segment)
    throw new McpxError("duplicate_subserver", `the subserver_id is being registered here as ${first}`);
  state.arriving.set(subserverId, segment);
}

function isSame(holder: Subserver, subserverId: string, { identity, isProven }: Standing): boolean {
  if (holder.standing.identity !== identity) return false;
  // Who has proven that the segment is its own may come as a new one; others only as themselves.
  return holder.registration.subserverId === subserverId || (isProven && !holder.isAlive);
}

/** [AX-13.4-1] [AX-13.4-2] */
async function checkParent(
  { aggregatorId, audit }: RegistrarState,
  { subserverId, segment }: Registration,
  { askParent }: Applicant,
): Promise<void> {
  const parent = await askParent();
  if (parent === undefined) {
    audit?.record({
      action: "register",
      subject: segment,
      reason: "parent_unknown",
      detail: { subserverId },
    });
  } else if (parent !== null && parent !== aggregatorId) {
    throw new McpxError("duplicate_subserver", `the registrant answers that its parent is ${parent}`);
  }
}

async function claim(
  state: RegistrarState,
  { segment, subserverId }: Registration,
  standing: Standing,
): Promise<void> {
  const { identity, registrant, isProven } = standing;
  const wanted = { segment, subserverId, identity, registrant, isProven };
  const holder = await state.store.claim(wanted, keepMsOf(state, standing));
  if (holder.segment === segment) {
    if (holder.identity !== identity)
      throw conflict(segment, "the segment is reserved for the registrant that had it before");
    return;
  }
  throw new McpxError(
    "duplicate_subserver",
    `the subserver_id is reserved for the segment ${holder.segment}, which registered with it before`,
    {
      suggestion: "Choose another subserver_id, or deregister that one first",
    },
  );
}

async function admit(
  state: RegistrarState,
  registration: Registration,
  standing: Standing,
  { channel, wireEnd, sessionId }: Applicant,
): Promise<Registered> {
  const { segment, subserverId, heartbeatMs } = registration;
  const owner = { aggregatorId: state.aggregatorId, sessionId };
  const lease = await state.store.take(subserverId, owner, leaseMs(heartbeatMs));
  if (!lease.isOurs) {
    throw new McpxError(
      "duplicate_subserver",
      `the aggregator ${lease.owner.aggregatorId} owns this subserver_id`,
      {
        retryAfterMs: Math.ceil(lease.leftMs),
      },
    );
  }
  try {
    const { refused, subserverIds } = await announce(state, registration);
    const before = state.bySegment.get(segment);
    const subserver = mount(state, {
      registration,
      standing,
      sessionId,
      epoch: lease.epoch,
      channel,
      wireEnd,
      subserverIds,
    });
    if (before !== undefined) supersede(state, before, subserver);
    return {
      subserver,
      answer: {
        ...answerFor(state, subserver),
        ...(refused.length > 0 && { refused_subserver_ids: refused }),
      },
    };
  } catch (error) {
    await state.store.letGo(subserverId, sessionId);
    if (!state.bySegment.has(segment)) await giveBack(state, registration, standing);
    throw error;
  }
}

/** A leaf does not wait longer for a tree above that does not answer: if it is refused later, it goes then. */
const announceMs = 2_000;

/**
 * Before it is there: a tree above may know that it would close a circle, or that its id, or one below it, is
 * registered elsewhere. Returns the ids below it that are, and those that are known from now on.
 */
async function announce(
  state: RegistrarState,
  registration: Registration,
): Promise<{ refused: readonly string[]; subserverIds: readonly string[] }> {
  const { segment, subserverId, subtreeIds, subserverIds } = registration;
  checkSubtreeSize(state, segment, subtreeIds ?? []);
  const { taken, refused } = sortIds(state, segment, [subserverId, ...subserverIds]);
  if (refused.includes(subserverId)) throw elsewhere();
  const pending = { subtreeIds: subtreeIds ?? [], subserverIds: taken, refused: new Set<string>() };
  state.pending.set(segment, pending);
  try {
    const told = state.announceSubtree();
    if (subtreeIds === undefined)
      await Promise.race([told.catch(() => {}), wait(announceMs, undefined, { ref: false })]);
    else await told;
    if (pending.refused.has(subserverId)) throw elsewhere();
    return {
      refused: [...refused, ...pending.refused],
      subserverIds: taken.filter((id) => id !== subserverId && !pending.refused.has(id)),
    };
  } catch (error) {
    state.pending.set(segment, nothingPending());
    announceLess(state);
    throw error;
  }
}

function elsewhere(): McpxError {
  return new McpxError("duplicate_subserver", "it is registered elsewhere in the tree");
}

function answerFor(state: RegistrarState, { registration, sessionId, epoch }: Subserver): RegistrationAnswer {
  const { segment, heartbeatMs } = registration;
  const { budget } = state.ruleFor(segment);
  return {
    status: "registered",
    assigned_segment: segment,
    session_id: sessionId,
    heartbeat_interval_ms: heartbeatMs,
    heartbeat_deadline_ms: deadlineMs(heartbeatMs),
    lease_ms: leaseMs(heartbeatMs),
    aggregator_id: state.aggregatorId,
    epoch,
    budget: budget ?? {},
  };
}

function conflict(segment: string, why: string): McpxError {
  return new McpxError("namespace_conflict", `${segment}: ${why}`);
}
