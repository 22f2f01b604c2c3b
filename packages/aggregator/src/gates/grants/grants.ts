// What a human has allowed beforehand: once, for a session, for a time, so many times, for these arguments. Kept in
// memory only: after a restart everything is asked for again. Pure state; every change is one synchronous step.
import { McpxError, matchesTool } from "@mcpx/protocol";
import type { RuleAction } from "../rules.ts";

/** Every grant has an end: a time, a number of uses or a session. */
export interface Grant {
  id: string;
  /** The caller to whom the grant was given. */
  principal: string;
  /** A glob over canonical names. */
  tools: string;
  /** Only with these arguments. */
  argumentsDigest?: string | undefined;
  /** Monotonic ms. */
  expiresAt?: number | undefined;
  usesLeft?: number | undefined;
  session?: string | undefined;
  grantedBy: string;
  reason: string;
}

export type Grants = Map<string, Grant>;

export interface GrantQuestion {
  action: RuleAction;
  /** How many have to approve it. */
  approvers: number;
  principal: string;
  session: string;
  /** Canonical, without the root's segment. */
  tool: string;
  /** The root's segment, which grants may write before names. */
  root?: string | undefined;
  digest: string;
  /** Monotonic ms. */
  now: number;
}

const grantsMax = 1_000;

/** Throws `bad_request` where it would never end, or where there are too many. */
export function addGrant(grants: Grants, grant: Grant, now: number): void {
  const { expiresAt, usesLeft, session } = grant;
  if (expiresAt === undefined && usesLeft === undefined && session === undefined) {
    throw new McpxError("bad_request", "a grant needs an end: a time, a number of uses or a session");
  }
  if (usesLeft !== undefined && !(Number.isSafeInteger(usesLeft) && usesLeft > 0)) {
    throw new McpxError("bad_request", "a grant's uses are a whole number above 0");
  }
  if (grants.has(grant.id)) throw new McpxError("bad_request", "there is already a grant with this id");
  forgetEnded(grants, now);
  if (grants.size >= grantsMax) {
    throw new McpxError("bad_request", `there are ${grantsMax} grants; revoke some first`);
  }
  grants.set(grant.id, { ...grant });
}

/** The grant that covers the call, one use poorer; `undefined` where a human has to be asked. */
export function useGrant(grants: Grants, question: GrantQuestion): Grant | undefined {
  // A grant has one signature: it stands for no second one.
  if (question.action !== "ask" || question.approvers > 1) return undefined;
  const fitting = [...grants.values()].filter((grant) => covers(grant, question));
  // Uses are spent only where nothing else covers the call.
  const grant = fitting.find(({ usesLeft }) => usesLeft === undefined) ?? fitting[0];
  if (grant?.usesLeft === undefined) return grant && { ...grant };
  grant.usesLeft -= 1;
  if (grant.usesLeft === 0) grants.delete(grant.id);
  return { ...grant };
}

/** In the order they were granted. */
export function listGrants(grants: Grants, now: number): Grant[] {
  forgetEnded(grants, now);
  return [...grants.values()].map((grant) => ({ ...grant }));
}

export function revokeGrant(grants: Grants, id: string): boolean {
  return grants.delete(id);
}

/** A session that is over takes its grants with it. */
export function endSessionGrants(grants: Grants, session: string): void {
  for (const grant of grants.values()) if (grant.session === session) grants.delete(grant.id);
}

function covers(grant: Grant, { principal, session, tool, root, digest, now }: GrantQuestion): boolean {
  return (
    grant.principal === principal &&
    (grant.session === undefined || grant.session === session) &&
    (grant.argumentsDigest === undefined || grant.argumentsDigest === digest) &&
    !isOver(grant, now) &&
    matchesTool(root, grant.tools, tool)
  );
}

function isOver({ expiresAt }: Grant, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

function forgetEnded(grants: Grants, now: number): void {
  for (const grant of grants.values()) if (isOver(grant, now)) grants.delete(grant.id);
}
