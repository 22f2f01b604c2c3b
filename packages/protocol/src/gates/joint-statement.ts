// One approval for a call that stops at several gates, one below the other. It names each gate with all of its terms,
// so that each finds its own in it and none can use another's. Pure. [AX-11.3-8]

import { McpxError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { type GateTerms, readStatement, type Statement, statementOf } from "./gate.ts";

/** How a tree asks the one below which gates a call will stop at. */
export const gatesAheadMethod = "mcpax/gates";

export interface JointStatement {
  version: 3;
  /** A rejection at the first gate is enough, and a statement of its own. */
  decision: "approve";
  /** From the first gate downward. */
  gates: readonly GateTerms[];
}

const jointGatesMax = 4;
const fields = ["decision", "gates", "version"];

export function isJoint(payload: JsonObject): boolean {
  return payload.gates !== undefined;
}

export function jointStatementOf(gates: readonly GateTerms[]): JointStatement {
  return readJointStatement({ version: 3, decision: "approve", gates: gates.map(plainTerms) });
}

/** Every field of every gate, and that all of them are about one call; else `bad_proof`. */
export function readJointStatement(value: unknown): JointStatement {
  if (!isObject(value)) throw bad("the statement is not an object");
  if (Object.keys(value).some((key) => !fields.includes(key))) {
    throw bad("the statement has a field that is not known");
  }
  if (value.version !== 3) throw bad("version of a statement about several gates must be 3");
  if (value.decision !== "approve") throw bad("a statement about several gates can only approve");
  const gates = readGates(value.gates, 2);
  checkOneCall(gates);
  return { version: 3, decision: "approve", gates };
}

/** The terms of gates below, as the tree below tells them. */
export function readGatesBelow(value: unknown): readonly GateTerms[] {
  return readGates(value, 0);
}

/** What one gate finds in it; `undefined` where it is not named. */
export function ownStatement(
  { gates, decision }: JointStatement,
  { confirmation_id, aggregator_id }: Pick<GateTerms, "confirmation_id" | "aggregator_id">,
): Statement | undefined {
  const own = gates.find(
    (gate) => gate.confirmation_id === confirmation_id && gate.aggregator_id === aggregator_id,
  );
  return own && statementOf(own, decision);
}

/** What the gates of one call have in common. */
export type SharedTerms = Pick<GateTerms, "asker" | "route" | "arguments_digest">;

/** The same route, the same arguments, and each asker behind the one above: throws `bad_proof` where it is not so. */
export function checkOneCall(gates: readonly SharedTerms[]): void {
  for (const [index, below] of gates.entries()) {
    const above = gates[index - 1];
    if (above === undefined) continue;
    if (canonicalJson(above.route) !== canonicalJson(below.route)) throw mixed("route");
    if (above.arguments_digest !== below.arguments_digest) throw mixed("arguments_digest");
    if (above.asker === undefined || below.asker?.endsWith(`/${above.asker}`) !== true) throw mixed("asker");
  }
}

function readGates(value: unknown, min: number): readonly GateTerms[] {
  if (!Array.isArray(value) || value.length < min || value.length > jointGatesMax) {
    throw bad(`gates must be a list of ${min} to ${jointGatesMax}`);
  }
  const gates = value.map(readTerms);
  for (const field of ["confirmation_id", "aggregator_id", "nonce"] as const) {
    if (new Set(gates.map((gate) => gate[field])).size < gates.length) {
      throw bad(`two gates of the statement have the same ${field}`);
    }
  }
  return gates;
}

/** Of calls only: a result is released where it is held. */
function readTerms(value: unknown): GateTerms {
  if (!isObject(value) || value.decision !== undefined || value.reason !== undefined) {
    throw bad("each gate of the statement must be its terms");
  }
  const terms = plainTerms(readStatement({ ...value, decision: "approve" }));
  if (terms.version !== 2) throw bad("each gate of the statement must name its asker and its server");
  if (terms.phase !== undefined) throw bad("a statement about several gates releases no result");
  return terms;
}

function plainTerms(gate: GateTerms): GateTerms {
  const { decision: _, ...terms } = statementOf(gate, "approve");
  return terms;
}

function mixed(field: string): McpxError {
  return bad(`its gates are not those of one call: ${field} differs`);
}

function bad(detail: string): McpxError {
  return new McpxError("bad_proof", detail);
}
