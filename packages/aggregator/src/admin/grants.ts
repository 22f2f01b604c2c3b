// For the operator: GET, POST and DELETE /admin/grants, what is allowed beforehand, to whom and until when. An approver
// signs each: POST /admin/grants/terms says what.
import { hash, randomUUID } from "node:crypto";
import type { HttpRequest, Route } from "@mcpx/host";
import {
  digestOf,
  type GateTerms,
  type GrantTerms,
  grantChallenge,
  isMcpxError,
  isObject,
  type JsonObject,
  McpxError,
  parseExact,
  quoteShort,
  statementOf,
  statementText,
} from "@mcpx/protocol";
import { promptFor, proofText } from "../gates/approve/decide-here.ts";
import { decideSoon, recordRefusal } from "../gates/confirm.ts";
import { anchorsNow, type Gatekeeper } from "../gates/gatekeeper.ts";
import { addOffer, findOffer, type GrantOffers, offerMs } from "../gates/grants/grant-offers.ts";
import { addGrant, type Grant, listGrants, revokeGrant } from "../gates/grants/grants.ts";
import { checkGrantProof, type ProvenGrant } from "../gates/proofs/proof-grant.ts";
import { recordFirst } from "../gates/store/gate-records.ts";
import { type Gate, termsOf } from "../gates/store/gate-store.ts";
import { type LocalGuard, localRoute, operatorRoute } from "../mcp/operator.ts";
import { principalName } from "../mcp/plain-caller.ts";
import type { TreeState } from "../servers/tree-state.ts";

const toolGlob = /^[a-z0-9_.*-]{1,256}$/;
const textCharsMax = 1_000;
const ttlMsMax = 30 * 86_400_000;
const known = [
  "principal",
  "tools",
  "arguments",
  "ttlMs",
  "uses",
  "session",
  "reason",
  "like",
  "includesCall",
];

export function grantRoutes(state: TreeState, gates: Gatekeeper, guard: LocalGuard): Route[] {
  const path = "/admin/grants";
  const { clock } = state;
  const offers: GrantOffers = new Map();
  const parts = { state, gates, offers };
  return [
    operatorRoute(guard, "GET", path, () => ({
      body: { grants: listGrants(gates.grants, clock.monotonic()).map((one) => written(state, one)) },
    })),
    localRoute(guard, "POST", `${path}/terms`, async (_, request) => ({ body: await offer(parts, request) })),
    localRoute(guard, "POST", path, async (_, request) => ({ body: await give(parts, request) })),
    operatorRoute(guard, "DELETE", `${path}/:id`, async (by, { params }) => {
      const id = params.id ?? "";
      if (!revokeGrant(gates.grants, id))
        throw new McpxError("not_found", `there is no grant with the id ${quoteShort(id)}`);
      await state.audit?.recordNow({
        action: "gate.revoke",
        actor: principalName(by),
        detail: { grant: id },
      });
      return { body: { revoked: id } };
    }),
  ];
}

interface GrantParts {
  state: TreeState;
  gates: Gatekeeper;
  offers: GrantOffers;
}

/** What an approver has to sign for what is wished, and how a browser asks a passkey for it where there is one. */
async function offer(parts: GrantParts, request: HttpRequest): Promise<JsonObject> {
  const { state, gates, offers } = parts;
  const wish = await readWish(parse(await request.text()));
  const gate = wish.gate === undefined ? undefined : await waitingGate(gates, wish.gate, wish.principal);
  const { grant, ttlMs } = wish;
  const { argumentsDigest, usesLeft, session, reason } = grant;
  const terms: GrantTerms = {
    ...{ type: "grant", version: 1, aggregator_id: gates.aggregatorId, grant_id: grant.id },
    ...{ principal: grant.principal, tools: grant.tools },
    ...(argumentsDigest !== undefined && { arguments_digest: argumentsDigest }),
    ...(ttlMs !== undefined && { ttl_ms: ttlMs }),
    ...(usesLeft !== undefined && { uses: usesLeft }),
    ...(session !== undefined && { session }),
    ...(reason !== "" && { reason }),
    ...(gate !== undefined && wish.includesCall && { call: termsOf(gate, gates.aggregatorId) }),
    sign_before: Math.floor((state.clock.now() + offerMs) / 1_000),
  };
  const endsAt = state.clock.monotonic() + offerMs;
  addOffer(offers, { terms, grant, ttlMs, thumbprints: gate?.keys ?? [], endsAt });
  return { terms: { ...terms }, ...(await passkeyPrompt(parts, request, terms)) };
}

/** Nothing where no passkey can be used at this address. */
async function passkeyPrompt(
  parts: GrantParts,
  request: HttpRequest,
  terms: GrantTerms,
): Promise<JsonObject> {
  try {
    const expiresAt = terms.sign_before * 1_000;
    return { passkey: await promptFor(parts, request, { expiresAt }, await grantChallenge(terms)) };
  } catch (error) {
    if (isMcpxError(error)) return {};
    throw error;
  }
}

/** One signature, one grant; where the call that waits is in it, that goes on by the same. */
async function give({ state, gates, offers }: GrantParts, request: HttpRequest): Promise<JsonObject> {
  const { grant_id: id, proof, credential } = parse(await request.text());
  const given =
    typeof proof === "string" ? proof : isObject(credential) ? proofText({ credential }) : undefined;
  if (given === undefined) throw bad("proof must be a string, or credential what a passkey has signed");
  const now = state.clock.monotonic();
  const { terms, grant, ttlMs, thumbprints } = findOffer(offers, String(id), now);
  const { principal } = terms;
  const checked = await checkGrantProof(given, terms, await anchorsNow(gates), {
    principal,
    thumbprints,
  }).catch((error: unknown) => {
    recordRefusal(state, { tool: terms.tools }, undefined, error);
    throw error;
  });
  const { by, thumbprint, proofHash } = checked;
  // Taken before anything is waited for: it counts once.
  if (!offers.delete(terms.grant_id)) throw new McpxError("confirmation_used");
  const expiresAt = ttlMs === undefined ? undefined : now + ttlMs;
  const signed: Grant = { ...grant, expiresAt, grantedBy: by };
  const { principal: subject, grantedBy: actor, ...detail } = written(state, signed);
  await recordFirst(state.audit, {
    action: "gate.grant",
    actor: String(actor),
    subject: String(subject),
    detail: { ...detail, key: thumbprint, proof: proofHash },
  });
  addGrant(gates.grants, signed, now);
  const { call } = terms;
  if (call === undefined) return written(state, signed);
  return {
    ...written(state, signed),
    call: await letGo({ state, gates }, call, { ...checked, proof: given }),
  };
}

async function letGo(
  { state, gates }: Pick<GrantParts, "state" | "gates">,
  call: GateTerms,
  { by, thumbprint, proof }: ProvenGrant & { proof: string },
): Promise<JsonObject> {
  const gate = await gates.store.find(call.confirmation_id);
  if (gate === undefined) throw new McpxError("confirmation_unknown");
  const statement = statementOf(call, "approve");
  const proofHash = hash("sha256", `${thumbprint}\n${statementText(statement)}`, "base64url");
  const checked = { by, isPress: false, thumbprint, statement, proofHash, proof };
  const decided = await decideSoon(state, gates, gate, checked);
  return { id: decided.id, status: decided.status };
}

async function waitingGate({ store }: Gatekeeper, id: string, principal: string): Promise<Gate> {
  const gate = await store.find(id);
  if (gate === undefined) throw new McpxError("confirmation_unknown");
  if (gate.status !== "pending") throw new McpxError("confirmation_used");
  if (gate.principal !== principal)
    throw bad("the waiting call in like was made by another caller than the grant is for");
  return gate;
}

interface Wish {
  grant: Omit<Grant, "grantedBy" | "expiresAt">;
  principal: string;
  ttlMs: number | undefined;
  /** The call it is like. */
  gate: string | undefined;
  includesCall: boolean;
}

async function readWish(body: JsonObject): Promise<Wish> {
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown !== undefined) throw bad(`${unknown.slice(0, 100)} is not known; known: ${known.join(", ")}`);
  const { tools, arguments: given, ttlMs, uses, session, reason = "", like, includesCall = false } = body;
  if (typeof tools !== "string" || !toolGlob.test(tools)) throw bad("tools must be a tool's name or glob");
  if (given !== undefined && !isObject(given)) throw bad("arguments must be an object");
  if (typeof includesCall !== "boolean") throw bad("includesCall must be true or false");
  if (includesCall && like === undefined)
    throw bad("includesCall needs like: the id of the gate at which the call waits");
  // Clients of the modern era have none that would end.
  const hasSession = typeof session === "string" && session.startsWith("session:");
  if (session !== undefined && !hasSession && ttlMs === undefined && uses === undefined) {
    throw bad("this client has no sessions that end: give ttlMs or uses too");
  }
  if (ttlMs === undefined && uses === undefined && session === undefined) {
    throw bad("a grant needs an end: a time, a number of uses or a session");
  }
  const principal = readText(body.principal, "principal");
  return {
    grant: {
      id: randomUUID(),
      principal,
      tools,
      argumentsDigest: given === undefined ? undefined : await digestOf(given),
      usesLeft: uses === undefined ? undefined : readCount(uses, "uses", 1_000_000),
      session: session === undefined ? undefined : readText(session, "session"),
      reason: reason === "" ? "" : readText(reason, "reason"),
    },
    principal,
    ttlMs: ttlMs === undefined ? undefined : readCount(ttlMs, "ttlMs", ttlMsMax),
    gate: like === undefined ? undefined : readText(like, "like"),
    includesCall,
  };
}

function readText(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "" && value.length <= textCharsMax) return value;
  throw bad(`${field} must be a string of at most ${textCharsMax} characters`);
}

function readCount(value: unknown, field: string, max: number): number {
  if (Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= max) return Number(value);
  throw bad(`${field} must be a whole number from 1 to ${max}`);
}

/** Exactly: the digest of arguments is of their very numbers. */
function parse(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    value = undefined;
  }
  if (!isObject(value)) throw bad("the body must be a JSON object");
  return value;
}

function bad(detail: string): McpxError {
  return new McpxError("bad_request", detail);
}

function written({ clock }: TreeState, { expiresAt, ...grant }: Grant): JsonObject {
  if (expiresAt === undefined) return { ...grant };
  const leftMs = Math.max(0, Math.ceil(expiresAt - clock.monotonic()));
  return { ...grant, leftMs, expiresAt: new Date(clock.now() + leftMs).toISOString() };
}
