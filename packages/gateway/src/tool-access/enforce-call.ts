// A tool call in a topic that checks them, before its owner sees it: policy, capability, proof. Uses and replays stay
// with the owner, who alone counts them; the gateway refuses only what the owner would. [AC-6-1] [AC-0-1]
import {
  type AccessPolicy,
  canonicalJson,
  carriedIn,
  defaultPolicy,
  isObject,
  isTimestamp,
  type JsonObject,
  judge,
  McpxError,
  type PresentedCall,
  payloadText,
  proofSkewMs,
  readEd25519Jwk,
  readUnambiguous,
  refusalOf,
  strangenessOf,
  stricterVerdict,
  timestampMs,
  type Verdict,
  type VerifiedUse,
  verifyCall,
} from "@mcpx/protocol";
import type { Handling } from "../handling/handling.ts";
import type { ProposalPlace } from "../room/ended-proposals.ts";
import { findReferred, type Referred } from "../room/referred.ts";
import type { Member, Room } from "../room/room.ts";

/** The life of a proposal that names none. [X1-7.3-1] */
const proposalTtlMs = 300_000;

interface Attempt {
  owner: string;
  tool: string;
  params: JsonObject;
  rpcId: string | number;
  /** Only while it is open: one that has ended gives nobody a right. */
  proposal: (ProposalPlace & { at: number; isAsProposed: boolean }) | undefined;
}

export async function enforceCall(handling: Handling): Promise<void> {
  const { gateway, member, envelope } = handling;
  const attempt = await readAttempt(handling);
  const { owner, tool, proposal } = attempt;
  const caller = member.participant.id;
  if (caller === owner) return;
  const access = verdictFor(handling, owner, caller, tool).access;
  const proposers = proposal && verdictFor(handling, owner, proposal.proposer, tool).access;
  if (access === "denied" || proposers === "denied") {
    throw new McpxError("policy_denied", "a rule of the owner, or of this topic, denies this tool");
  }
  // A proposer has a right to nothing but what it proposed.
  const isOpen = access === "open" || (proposers === "open" && proposal?.isAsProposed === true);
  const use = isOpen ? undefined : await verify(handling, attempt);
  if (proposal !== undefined) takeUp(member.room, proposal, envelope.id);
  gateway.audit.record({
    action: "capability.use",
    actor: caller,
    subject: owner,
    topic: member.room.topic,
    detail: { tool: tool.slice(0, 128), ...(use === undefined ? {} : { jti: use.chain[0]?.jti }) },
  });
}

/** Once: somebody else's call may have taken it up while this one was checked. */
function takeUp({ endedProposals }: Room, proposal: ProposalPlace, callId: string): void {
  if (endedProposals.isEnded(proposal, callId)) throw new McpxError("missing", "the proposal has ended");
  endedProposals.fulfil(proposal, callId);
}

async function readAttempt({ gateway, member, envelope }: Handling): Promise<Attempt> {
  const { to, correlationId } = envelope;
  // The owner reads these bytes again: what it could read otherwise is not judged, but refused.
  const payload = readUnambiguous(payloadText(envelope)) as JsonObject;
  const params = isObject(payload.params) ? payload.params : {};
  if (typeof params.name !== "string") throw new McpxError("bad_params", "params.name must be a tool's name");
  const { room } = member;
  const referred = correlationId === undefined ? undefined : await findReferred(room, correlationId);
  const owner = String(to[0]);
  const isOpen = referred?.kind === "mcp/proposal" && !isOver(referred, gateway.clock.now());
  const proposal =
    isOpen && correlationId !== undefined
      ? {
          id: correlationId,
          proposer: referred.from,
          seq: referred.seq,
          at: referred.at,
          isAsProposed: isAsProposed(referred, owner, params),
        }
      : undefined;
  return {
    owner,
    tool: params.name,
    params,
    rpcId: payload.id as string | number,
    proposal:
      proposal !== undefined && !room.endedProposals.isEnded(proposal, envelope.id) ? proposal : undefined,
  };
}

/** Judged by our time, as everybody in the room does it by the `at` of the call. */
function isOver({ at, payload }: Referred, nowMs: number): boolean {
  const { ttl_ms: ttlMs, expires_at: expiresAt } = payload;
  const ends = [
    ...(typeof ttlMs === "number" ? [at + ttlMs] : []),
    ...(isTimestamp(expiresAt) ? [timestampMs(expiresAt)] : []),
  ];
  return nowMs > (ends.length === 0 ? at + proposalTtlMs : Math.min(...ends));
}

/** `_meta` carries what nobody proposed. */
function isAsProposed({ to, payload }: Referred, owner: string, params: JsonObject): boolean {
  const { _meta: _, ...called } = params;
  const { _meta: __, ...proposed } = isObject(payload.params) ? payload.params : {};
  const isTarget = to.length === 0 || to.includes(owner);
  return isTarget && payload.method === "tools/call" && canonicalJson(called) === canonicalJson(proposed);
}

/** The owner's policy and the topic's: the stricter counts. Without either only humans need no capability. */
function verdictFor({ gateway, member }: Handling, owner: string, agent: string, tool: string): Verdict {
  const { room } = member;
  const isHuman = memberNamed(room, agent)?.participant.kind === "human";
  const question = { agent, isHuman, tool, nowMs: gateway.clock.now() };
  const declared = gateway.toolAccess.policyOf(room, owner);
  const general = isObject(room.toolAccess) ? (room.toolAccess as unknown as AccessPolicy) : undefined;
  const [first = defaultPolicy([]), ...more] = [declared, general].filter((policy) => policy !== undefined);
  return more.reduce(
    (strictest, policy) => stricterVerdict(strictest, judge(policy, question)),
    judge(first, question),
  );
}

async function verify({ gateway, member }: Handling, attempt: Attempt): Promise<VerifiedUse> {
  const { toolAccess, clock } = gateway;
  const { room } = member;
  const nowMs = clock.now();
  const ownerKey = readEd25519Jwk(memberNamed(room, attempt.owner)?.participant.key);
  if (ownerKey === undefined) {
    throw new McpxError("wrong_issuer", `${attempt.owner} has shown no key to verify capabilities by`);
  }
  const presented = presentedBy(member, attempt);
  const { proposal } = attempt;
  const provenAtMs = proposal !== undefined && presented.request === proposal.id ? proposal.at : nowMs;
  const use = await verifyCall(presented, {
    ownerKey,
    nowMs,
    provenAtMs,
    // The owner's clock is another one, and it looks at times itself.
    skewMs: proofSkewMs,
    channelOf: ({ holder }) => channelOf(member, holder),
    // What only the owner's validator understands is left to it.
    judgeArguments: (schema, args) => (strangenessOf(schema) ? undefined : refusalOf(schema, args)),
    verified: toolAccess.verified,
  });
  for (const { iss, jti } of use.chain) {
    if (await toolAccess.revoked.has(room.topic, iss, jti, nowMs))
      throw new McpxError("revoked", "its issuer or an admin has revoked it");
  }
  for (const claims of use.chain) toolAccess.seen.note(claims, nowMs);
  return use;
}

function presentedBy({ room, participant }: Member, attempt: Attempt): PresentedCall {
  const { owner, tool, params, proposal, rpcId } = attempt;
  const { own, meta } = carriedIn(params);
  const isOwn = own.capability !== undefined || proposal === undefined;
  const holder = isOwn ? participant.id : proposal.proposer;
  return {
    ...(own.capability === undefined ? meta : own),
    holder,
    holderKey: readEd25519Jwk(memberNamed(room, holder)?.participant.key),
    owner,
    tool,
    arguments: params.arguments ?? {},
    topic: room.topic,
    request: isOwn ? rpcId : proposal.id,
  };
}

/** [AC-8-7] */
function channelOf(member: Member, holder: string): string | undefined {
  if (member.participant.id === holder) return member.connectionId;
  return memberNamed(member.room, holder)?.connectionId;
}

/** Its own socket where it is there, else any connection that shows a key. */
function memberNamed({ members }: Room, id: string): Member | undefined {
  const own = members.get(id);
  if (own !== undefined) return own;
  return [...members.values()].find(({ participant }) => participant.id === id);
}
