// For the operator: GET, POST and DELETE /admin/grants, what is allowed beforehand, to whom and until when.
import { randomUUID } from "node:crypto";
import type { HttpRequest, Principal, Route } from "@mcpx/host";
import { digestOf, isObject, type JsonObject, McpxError, parseExact } from "@mcpx/protocol";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import { addGrant, type Grant, listGrants, revokeGrant } from "../gates/grants.ts";
import { type LocalGuard, localRoute, operatorRoute } from "../mcp/operator.ts";
import { principalName } from "../mcp/plain-caller.ts";
import type { TreeState } from "../servers/tree-state.ts";

const toolGlob = /^[a-z0-9_.*-]{1,256}$/;
const textCharsMax = 1_000;
const ttlMsMax = 30 * 86_400_000;
const known = ["principal", "tools", "arguments", "ttlMs", "uses", "session", "reason"];

export function grantRoutes(state: TreeState, gates: Gatekeeper, guard: LocalGuard): Route[] {
  const path = "/admin/grants";
  const { clock } = state;
  return [
    operatorRoute(guard, "GET", path, () => ({
      body: { grants: listGrants(gates.grants, clock.monotonic()).map((one) => written(state, one)) },
    })),
    localRoute(guard, "POST", path, async (by, request) => ({
      body: await give(state, gates, by, request),
    })),
    operatorRoute(guard, "DELETE", `${path}/:id`, (by, { params }) => {
      const id = params.id ?? "";
      if (!revokeGrant(gates.grants, id)) throw new McpxError("not_found", "there is no such grant");
      state.audit?.recordNow({ action: "gate.revoke", actor: principalName(by), detail: { grant: id } });
      return { body: { revoked: id } };
    }),
  ];
}

async function give(
  state: TreeState,
  { grants }: Gatekeeper,
  by: Principal,
  request: HttpRequest,
): Promise<JsonObject> {
  const now = state.clock.monotonic();
  const grant = await readGrant(parse(await request.text()), principalName(by), now);
  // Nobody allows themselves what they would have to ask for.
  if (grant.principal === grant.grantedBy) {
    throw new McpxError("self_approval", "nobody grants to themselves", {
      suggestion: "Let another approver do it",
    });
  }
  addGrant(grants, grant, now);
  const { principal, grantedBy: actor, ...detail } = written(state, grant);
  state.audit?.recordNow({ action: "gate.grant", actor: String(actor), subject: String(principal), detail });
  return written(state, grant);
}

async function readGrant(body: JsonObject, grantedBy: string, now: number): Promise<Grant> {
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown !== undefined) throw bad(`${unknown.slice(0, 100)} is not known; known: ${known.join(", ")}`);
  const { tools, arguments: given, ttlMs, uses, session, reason = "" } = body;
  if (typeof tools !== "string" || !toolGlob.test(tools)) throw bad("tools must be a tool's name or glob");
  if (given !== undefined && !isObject(given)) throw bad("arguments must be an object");
  // Clients of the modern era have none that would end.
  const hasSession = typeof session === "string" && session.startsWith("session:");
  if (session !== undefined && !hasSession && ttlMs === undefined && uses === undefined) {
    throw bad("this client has no sessions that end: give ttlMs or uses too");
  }
  return {
    id: randomUUID(),
    principal: readText(body.principal, "principal"),
    tools,
    argumentsDigest: given === undefined ? undefined : await digestOf(given),
    expiresAt: ttlMs === undefined ? undefined : now + readCount(ttlMs, "ttlMs", ttlMsMax),
    usesLeft: uses === undefined ? undefined : readCount(uses, "uses", 1_000_000),
    session: session === undefined ? undefined : readText(session, "session"),
    grantedBy,
    reason: reason === "" ? "" : readText(reason, "reason"),
  };
}

function readText(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "" && value.length <= textCharsMax) return value;
  throw bad(`${field} must be a text of at most ${textCharsMax} characters`);
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
