// A call, before any tool sees it: policy, capability and proof, the one use of them, approval. Fail closed.
// [AC-0-1] [AC-1-2] [AC-10-1] [AC-10-2]
import {
  carriedIn,
  isMcpxError,
  isObject,
  type JsonObject,
  McpxError,
  type PresentedCall,
  proofSkewMs,
  type Verdict,
  type VerifiedUse,
  verifyCall,
  withoutCarried,
} from "@mcpx/protocol";
import type { GuardedRequest } from "./admissions.ts";
import { askApproval } from "./ask-approval.ts";
import {
  type GuardState,
  isHumanHere,
  keyOf,
  noteDelegators,
  nowOf,
  storeId,
  tell,
  verdictFor,
} from "./guard-state.ts";

interface Attempt {
  request: GuardedRequest;
  tool: string;
  arguments: unknown;
  /** Of who sends the call, and of who proposed it. */
  caller: Verdict;
  proposer: Verdict | undefined;
}

export async function admit(state: GuardState, request: GuardedRequest): Promise<JsonObject> {
  const { peer, params } = request;
  // A participant may call its own tools.
  if (peer === state.core.id) return withoutCarried(params);
  try {
    const attempt = readAttempt(state, request);
    const use = needsCapability(attempt) ? await useCapability(state, attempt) : undefined;
    await approveCall(state, attempt);
    tell(state, { type: "used", from: peer, tools: [attempt.tool], ...jtiOf(use) });
    return withoutCarried(params);
  } catch (error) {
    if (isMcpxError(error)) tell(state, { type: "refused", from: peer, reason: error.code });
    throw error;
  }
}

function readAttempt(state: GuardState, request: GuardedRequest): Attempt {
  const { params, peer, proposal } = request;
  const { name, arguments: args = {} } = params;
  if (typeof name !== "string") throw new McpxError("bad_params", "params.name must be the name of a tool");
  if (!isObject(args)) throw new McpxError("bad_params", "params.arguments must be an object");
  const caller = verdictFor(state, peer, name);
  const proposer = proposal && verdictFor(state, proposal.proposer, name);
  if (caller.access === "denied" || proposer?.access === "denied") {
    throw new McpxError("policy_denied", "a rule of the owner denies this tool");
  }
  return { request, tool: name, arguments: args, caller, proposer };
}

/**
 * Who fulfils a proposal may do it by own right, or by the proposer's, who has a right to nothing but what it proposed.
 */
function needsCapability({ caller, proposer, request }: Attempt): boolean {
  if (caller.access === "open") return false;
  return proposer?.access !== "open" || request.proposal?.fulfilment?.isChanged !== false;
}

async function useCapability(state: GuardState, attempt: Attempt): Promise<VerifiedUse> {
  const { core, options, store } = state;
  const { proposal } = attempt.request;
  const nowMs = nowOf(state);
  const presented = presentedBy(state, attempt);
  const isProposers = presented.request === proposal?.id;
  const use = await verifyCall(presented, {
    ownerKey: options.key.jwk,
    nowMs,
    provenAtMs: isProposers ? proposal.createdAt : nowMs,
    skewMs: 0,
    channelOf: ({ iss, jti }) => state.channels.get(storeId(iss, jti))?.channel,
    judgeArguments: options.validate,
    verified: state.verified,
  });
  // A proof from ahead is still in time at the last of these milliseconds.
  const nonceUntilMs = Math.max(nowMs, isProposers ? proposal.expiresAt : 0) + 2 * proofSkewMs + 1;
  const capabilities = use.chain.map(({ iss, jti, maxUses, exp }) => {
    return { id: storeId(iss, jti), maxUses, untilMs: exp * 1_000 };
  });
  const outcome = await store.spend(
    { nonce: `${core.topic} ${use.nonce}`, nonceUntilMs, capabilities },
    nowMs,
  );
  switch (outcome) {
    case "spent":
      noteDelegators(
        state,
        use.chain.slice(0, -1).map(({ iss }) => iss),
      );
      return use;
    case "replayed":
      throw new McpxError("replayed", "a call with this proof was made before");
    case "revoked":
      throw new McpxError("revoked", "its issuer has revoked it");
    case "unknown":
      throw new McpxError("revoked", "it was not granted here, or its grant is forgotten");
    case "uses_exhausted":
      throw new McpxError("uses_exhausted", "it was used as often as it may be");
    case "full":
      throw new McpxError("rate_limited", "too many calls at one time", { retryAfterMs: proofSkewMs });
  }
}

/** The sender's own, or that of the proposer, whose proof is over the proposal. */
function presentedBy(state: GuardState, attempt: Attempt): PresentedCall {
  const { core } = state;
  const { tool, arguments: args, request } = attempt;
  const { peer, proposal, params, rpcId } = request;
  const { own, meta } = carriedIn(params);
  const isOwn = own.capability !== undefined || proposal === undefined;
  const holder = isOwn ? peer : proposal.proposer;
  return {
    ...(own.capability === undefined ? meta : own),
    holder,
    holderKey: keyOf(state, holder),
    owner: core.id,
    tool,
    arguments: args,
    topic: core.topic,
    request: isOwn ? rpcId : proposal.id,
  };
}

/** A human who fulfils somebody else's proposal has decided on this very call. */
async function approveCall(state: GuardState, attempt: Attempt): Promise<void> {
  const { request, tool, caller, proposer } = attempt;
  const { peer, proposal, signal } = request;
  if (!caller.needsApproval && proposer?.needsApproval !== true) return;
  if (proposal !== undefined && proposal.proposer !== peer && isHumanHere(state, peer)) return;
  const question = { kind: "call", from: peer, tools: [tool], arguments: attempt.arguments } as const;
  const answer = await askApproval(state, question, signal);
  if (answer === false) {
    const isAsked = state.options.approve !== undefined;
    throw new McpxError(
      "approval_refused",
      isAsked ? "the owner rejected the call" : "the owner has no approver to ask",
    );
  }
  tell(state, { type: "approved", from: peer, tools: [tool] });
}

function jtiOf(use: VerifiedUse | undefined): { jti?: string } {
  const jti = use?.chain[0]?.jti;
  return jti === undefined ? {} : { jti };
}
