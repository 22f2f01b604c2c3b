// For the operator: GET /admin/gates (what waits, and what became of it), GET /admin/gates/{id} (all of one, and what
// is to be signed), POST /admin/gates/{id}/decision (a proof decides).
import type { Audit, HttpRequest, Identity, Principal, Route } from "@mcpx/host";
import {
  argumentDiff,
  isObject,
  type JsonObject,
  McpxError,
  parseExact,
  statementOf,
  statementText,
} from "@mcpx/protocol";
import { decideSoon, prove } from "../gates/confirm.ts";
import { toolSecrets, toolWarnings, toolWord } from "../gates/gate-warnings.ts";
import { anchorsNow, type Gatekeeper } from "../gates/gatekeeper.ts";
import { describeKey } from "../gates/proofs/describe-key.ts";
import { type Gate, type GateStatus, type ListedGate, termsOf } from "../gates/store/gate-store.ts";
import { isNamed } from "../mcp/asker.ts";
import { operatorRoute } from "../mcp/operator.ts";
import { principalName } from "../mcp/plain-caller.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { grantRoutes } from "./grants.ts";
import { type PanicKeeper, ruleRoutes } from "./rules.ts";
import { secretRoute } from "./secrets.ts";

export interface GateRoutesOptions extends PanicKeeper {
  tree: { readonly state: TreeState };
  identity: Pick<Identity, "tokens" | "secret">;
  audit: Audit;
}

const statuses: readonly GateStatus[] = [
  "pending",
  "approved",
  "consumed",
  "done",
  "failed",
  "rejected",
  "expired",
  "indeterminate",
  "held",
  "withheld",
  "refused",
];

export function gateRoutes(options: GateRoutesOptions): Route[] {
  const { tree, identity, audit, keepPanic, endPanic } = options;
  const { state } = tree;
  const { gates } = state;
  if (gates === undefined) return [];
  const guard = { identity, audit };
  const path = "/admin/gates";
  return [
    operatorRoute(guard, "GET", path, async (_by, { query }) => ({
      body: await listGates(gates, query.get("status")),
    })),
    operatorRoute(guard, "GET", `${path}/:id`, async (by, { params }) => ({
      body: await wholeGate(state, gates, await findGate(gates, params.id), by),
    })),
    operatorRoute(guard, "POST", `${path}/:id/decision`, async (by, request) => ({
      body: await decideGate(state, gates, by, request),
    })),
    secretRoute(guard),
    ...grantRoutes(state, gates, guard),
    ...ruleRoutes(state, gates, { guard, keepPanic, endPanic }),
  ];
}

async function listGates(gates: Gatekeeper, wanted: string | null): Promise<JsonObject> {
  const status = statuses.find((known) => known === wanted);
  if (wanted !== null && status === undefined) {
    throw new McpxError("bad_request", `status must be one of ${statuses.join(", ")}`);
  }
  const listed = await gates.store.list({ status });
  return {
    gates: listed.map((gate) => written(gates, gate)),
    approvers: (await anchorsNow(gates)).map(describeKey),
    panic: gates.isPanic,
  };
}

async function findGate({ store }: Gatekeeper, id = ""): Promise<Gate> {
  const gate = await store.find(id);
  if (gate === undefined) throw new McpxError("confirmation_unknown");
  return gate;
}

/** The answer comes as soon as the gate is decided; the call itself may take longer. */
async function decideGate(
  state: TreeState,
  gates: Gatekeeper,
  by: Principal,
  request: HttpRequest,
): Promise<JsonObject> {
  const body = await request.json();
  const proof = isObject(body) ? body.proof : undefined;
  if (typeof proof !== "string") throw new McpxError("bad_request", "proof must be a string");
  const gate = await findGate(gates, request.params.id);
  const decided = await decideSoon(
    state,
    gates,
    gate,
    await prove(state, gates, gate, { proof, by: principalName(by) }),
  );
  return wholeGate(state, gates, decided, by);
}

/** `by`: who looks. The asker sees its outcome where everybody does, and not before. */
async function wholeGate(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  by: Principal,
): Promise<JsonObject> {
  const { argumentsText, resultText, ...listed } = gate;
  const terms = termsOf(gate, gates.aggregatorId);
  const before = await gates.store.findLast(gate);
  return {
    ...written(gates, listed),
    warnings: toolWarnings(state, gate),
    secrets: toolSecrets(state, gate),
    word: toolWord(state, gate),
    arguments: parseExact(argumentsText),
    // To the byte: who signs wants to know what the digest is of.
    argumentsText,
    ...(resultText !== undefined && isShown(gate, by) && { outcome: parseExact(resultText), resultText }),
    statements: {
      approve: statementText(statementOf(terms, "approve")),
      reject: statementText(statementOf(terms, "reject")),
    },
    ...(before && {
      last: {
        id: before.id,
        argumentsText: before.argumentsText,
        approvals: approvalsOf(before),
        settledAt: textOf(before.settledAt),
        ...argumentDiff(parseExact(before.argumentsText), parseExact(argumentsText)),
      },
    }),
  };
}

function isShown({ status, principal }: Gate, by: Principal): boolean {
  return status !== "held" || !isNamed(principal, principalName(by));
}

function written({ aggregatorId }: Gatekeeper, gate: ListedGate): JsonObject {
  const { createdAt, expiresAt, settledAt } = gate;
  return {
    ...gate,
    approvals: approvalsOf(gate),
    ...(gate.review && { review: { ...gate.review, approvals: approvalsOf(gate.review) } }),
    heldAt: textOf(gate.heldAt),
    createdAt: textOf(createdAt),
    expiresAt: textOf(expiresAt),
    settledAt: textOf(settledAt),
    askerSigned: gate.server !== undefined,
    terms: { ...termsOf(gate, aggregatorId) },
  };
}

/** Without the proofs: these are in the audit. */
function approvalsOf({ approvals }: Pick<ListedGate, "approvals">): JsonObject[] {
  return approvals.map(({ by, thumbprint, at }) => ({ by, thumbprint, at: textOf(at) }));
}

function textOf(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
