// Answers `capabilities/request`: what rules give at once, what somebody has to agree to, and never more than was asked
// for. [AC-2-1] [AC-2-2] [AC-3-1] [AC-3-2]
import {
  type CapabilityClaims,
  type CapabilityGrant,
  type CapabilityRequest,
  coversTool,
  delegationsMax,
  type Ed25519Jwk,
  encryptTo,
  grantedUntilMs,
  isMcpxError,
  McpxError,
  readCapabilityRequest,
  readOffer,
  signCapability,
  strangenessOf,
  type ToolSet,
} from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";
import type { GrantRecord, LiveGrant } from "./access-store.ts";
import type { GuardedRequest } from "./admissions.ts";
import { askApproval } from "./ask-approval.ts";
import {
  type ApprovalAnswer,
  countRequest,
  type GrantTerms,
  type GuardState,
  isHumanHere,
  keyOf,
  nowOf,
  storeId,
  tell,
  verdictFor,
} from "./guard-state.ts";

/** What is about to be granted. */
export interface GrantPlan {
  holder: string;
  key: Ed25519Jwk;
  tools: ToolSet;
  untilMs: number;
  fromMs: number;
  isByPolicy: boolean;
  maxUses?: number | undefined;
  arguments?: Record<string, unknown> | undefined;
  channel?: string | undefined;
  delegations?: number | undefined;
}

const defaultDurationMs = 3_600_000;

export async function answerRequest(state: GuardState, request: GuardedRequest): Promise<CapabilityGrant> {
  const holder = request.proposal?.proposer ?? request.peer;
  try {
    countRequest(state, holder);
    const wish = readCapabilityRequest(request.params);
    const key = keyOf(state, holder);
    if (key === undefined) {
      throw refused(`${holder} has shown no Ed25519 key that a capability could be bound to`);
    }
    const seal = await readSeal(state, wish, key);
    const before = await grantToRefresh(state, wish, holder);
    const grant = await issue(state, await decide(state, { wish, holder, key, before }, request));
    // Counts go on in the new one; without any the old one may live its short life out.
    if (before?.maxUses !== undefined) await state.store.revoke([before]);
    return seal(grant);
  } catch (error) {
    if (isMcpxError(error)) tell(state, { type: "refused", from: holder, reason: error.code });
    throw error;
  }
}

/** Signs, remembers, tells. */
export async function issue(state: GuardState, plan: GrantPlan): Promise<CapabilityGrant & { id: string }> {
  const { core, options, store } = state;
  const nowMs = nowOf(state);
  const claims = claimsOf(state, plan, nowMs);
  if (claims.exp <= Math.max(claims.nbf, nowMs / 1_000))
    throw refused("the capability would expire before it begins");
  const strange = options.validate === undefined && plan.arguments && strangenessOf(plan.arguments);
  if (strange) throw refused(`${strange} in the schema of arguments is not understood here`);
  const token = await signCapability(options.key, claims);
  const { jti, holder, tools, maxUses, delegations } = claims;
  const record: GrantRecord = {
    id: storeId(core.id, jti),
    jti,
    topic: core.topic,
    holder,
    tools,
    ...(maxUses === undefined ? {} : { maxUses }),
    ...(delegations === undefined ? {} : { delegations }),
    isByPolicy: plan.isByPolicy,
    issuedAtMs: nowMs,
    untilMs: claims.exp * 1_000,
  };
  if (!(await store.remember(record, nowMs))) throw refused("too many capabilities are out already");
  if (plan.channel !== undefined) state.channels.set(record.id, { holder, channel: plan.channel });
  tell(state, { type: "granted", from: holder, jti, tools });
  const expires = new Date(claims.exp * 1_000).toISOString();
  return { id: jti, token, tools, expires, signature: token.slice(token.lastIndexOf(".") + 1) };
}

function claimsOf({ core }: GuardState, plan: GrantPlan, nowMs: number): CapabilityClaims {
  const { holder, key, tools, fromMs, untilMs, maxUses, channel, delegations } = plan;
  return {
    jti: newId(),
    iss: core.id,
    holder,
    topic: core.topic,
    cnf: { jwk: key },
    tools,
    iat: Math.floor(nowMs / 1_000),
    // A second early rather than late: times are told in whole ones.
    nbf: Math.floor(fromMs / 1_000),
    exp: Math.floor(untilMs / 1_000),
    ...(maxUses === undefined ? {} : { maxUses }),
    ...(plan.arguments === undefined ? {} : { arguments: plan.arguments }),
    ...(channel === undefined ? {} : { channel }),
    ...(delegations === undefined || delegations === 0 ? {} : { delegations }),
  };
}

/** [AC-9-8] */
async function grantToRefresh(
  state: GuardState,
  { refresh }: CapabilityRequest,
  holder: string,
): Promise<LiveGrant | undefined> {
  if (refresh === undefined) return undefined;
  const { store, core } = state;
  const grants = await store.grants(nowOf(state));
  const before = grants.find(({ id }) => id === storeId(core.id, refresh));
  if (before === undefined || before.isRevoked || before.holder !== holder || before.topic !== core.topic) {
    throw refused("there is no valid capability of yours with the id in refresh");
  }
  return before;
}

interface Asked {
  wish: CapabilityRequest;
  holder: string;
  key: Ed25519Jwk;
  before: LiveGrant | undefined;
}

async function decide(state: GuardState, asked: Asked, request: GuardedRequest): Promise<GrantPlan> {
  const { wish, holder } = asked;
  const { given, open } = sortTools(state, holder, wish.tools);
  if (open.length === 0) return plan(state, asked, given);
  const question = {
    kind: "grant",
    from: holder,
    tools: open.includes("*") ? "*" : open,
    ...(wish.duration === undefined ? {} : { duration: wish.duration }),
    ...(wish.reason === undefined ? {} : { reason: wish.reason }),
  } as const;
  const answer = await decided(state, question, request);
  if (answer === false) {
    if (given.length > 0) return plan(state, asked, given);
    const isAsked = state.options.approve !== undefined;
    throw refused(
      isAsked ? "the owner rejected the request" : "no rule grants it, and the owner has no approver to ask",
    );
  }
  const terms = answer === true ? {} : answer;
  const agreed =
    terms.tools === undefined ? open : open.filter((tool) => coversTool(terms.tools ?? [], tool));
  return plan(state, asked, given, agreed, terms);
}

/** A human who passes somebody else's wish on agrees to it. */
async function decided(
  state: GuardState,
  question: Parameters<typeof askApproval>[1],
  { proposal, peer, signal }: GuardedRequest,
): Promise<ApprovalAnswer> {
  if (proposal !== undefined && proposal.proposer !== peer && isHumanHere(state, peer)) return true;
  return askApproval(state, question, signal);
}

/** What rules give at once, and what somebody has to agree to; what is denied is in neither. */
function sortTools(state: GuardState, holder: string, tools: ToolSet): { given: string[]; open: string[] } {
  const given: string[] = [];
  const open: string[] = [];
  for (const tool of tools === "*" ? ["*"] : tools) {
    const { access } = verdictFor(state, holder, tool);
    if (access === "ask" || (access !== "denied" && isSensitive(state, tool))) open.push(tool);
    else if (access !== "denied") given.push(tool);
  }
  // All or, where nobody agrees to all, what rules give.
  if (open.includes("*")) given.push(...givenByRules(state, holder));
  if (given.length + open.length === 0) throw refused("a rule of the owner denies it");
  return { given, open };
}

function givenByRules(state: GuardState, holder: string): string[] {
  return [...state.tools].filter(
    (tool) => verdictFor(state, holder, tool).access === "granted" && !isSensitive(state, tool),
  );
}

function isSensitive({ options, destructive }: GuardState, tool: string): boolean {
  const sensitive = options.sensitive ?? [...destructive];
  return tool === "*" ? sensitive.length > 0 : sensitive.includes(tool);
}

function plan(
  state: GuardState,
  { wish, holder, key, before }: Asked,
  given: readonly string[],
  agreed: readonly string[] = [],
  terms: GrantTerms = {},
): GrantPlan {
  const { durationMaxMs = defaultDurationMs, delegations: mayDelegate = 0 } = state.options;
  const { constraints, channel } = wish;
  const tools = [...given, ...agreed];
  if (tools.length === 0) throw refused("the approver allowed none of the requested tools");
  const nowMs = nowOf(state);
  const lifeMs = Math.min((wish.duration ?? Number.POSITIVE_INFINITY) * 1_000, durationMaxMs);
  const endsMs = terms.duration === undefined ? lifeMs : terms.duration * 1_000;
  const left = before?.maxUses === undefined ? undefined : Math.max(0, before.maxUses - before.uses);
  if (left === 0) throw refused("the capability to be refreshed is used up");
  const delegations = terms.delegations ?? Math.min(wish.delegations ?? 0, mayDelegate);
  return {
    holder,
    key,
    tools: tools.includes("*") ? "*" : tools,
    fromMs: Math.max(nowMs, constraints.validFromMs ?? 0),
    untilMs: Math.min(
      nowMs + endsMs,
      constraints.validUntilMs ?? Number.POSITIVE_INFINITY,
      ruleEnd(state, holder, given),
    ),
    isByPolicy: agreed.length === 0,
    maxUses: fewest(terms.maxUses, constraints.maxUses, left),
    arguments: bothSchemas(terms.arguments, constraints.arguments),
    channel,
    delegations: Math.min(delegations, delegationsMax),
  };
}

/** No capability outlives the rule it comes from. [AC-1-9] */
function ruleEnd(state: GuardState, agent: string, tools: readonly string[]): number {
  const isHuman = isHumanHere(state, agent);
  const ends = tools.map((tool) =>
    grantedUntilMs(state.policy, { agent, isHuman, tool, nowMs: nowOf(state) }),
  );
  return Math.min(...ends);
}

function fewest(...counts: (number | undefined)[]): number | undefined {
  const given = counts.filter((count) => count !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

function bothSchemas(
  a: Record<string, unknown> | undefined,
  b: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  return a !== undefined && b !== undefined ? { allOf: [a, b] } : (a ?? b);
}

/** How the grant is to be sent: as it is, or so that only its holder can read it. [AC-8-3] [AC-8-6] */
async function readSeal(
  { core }: GuardState,
  { encryptTo: offer }: CapabilityRequest,
  key: Ed25519Jwk,
): Promise<(grant: CapabilityGrant) => CapabilityGrant | Promise<CapabilityGrant>> {
  if (offer === undefined) return (grant) => grant;
  const jwk = await readOffer(offer, key, core.topic, core.id);
  if (jwk === undefined)
    throw refused("encrypt_to must be an X25519 key, signed by yours for this room and owner");
  return async ({ token, tools, expires }) => {
    return { token: await encryptTo(jwk, token), tools, expires, encrypted: true };
  };
}

function refused(detail: string): McpxError {
  return new McpxError("grant_refused", detail);
}
