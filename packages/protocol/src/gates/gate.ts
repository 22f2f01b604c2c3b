// The words of a gate: what an approver signs. Pure. [AX-11.3-2]

import { McpxError } from "../errors.ts";
import { canonicalJson, sha256 } from "../json/canonical-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { isId } from "../names.ts";

export const decisions = ["approve", "reject"] as const;
export type Decision = (typeof decisions)[number];

/** The server a call goes to, and what it calls the tool: another one does not get what was signed for this one. */
export interface ServerTerms {
  /** The operator's name for the server. */
  name: string;
  /** What it is, as configured or proven: its kind, and a hash of what its operator has set or its proof has shown. */
  identity: string;
  /** The tool's name there. */
  tool: string;
  /** `sha256:` and base64url of the hash of the tool's definition, as its server lists it. */
  definition: string;
}

/** What a gate is about. Its approver signs one call of one asker to one server, at one aggregator, once. */
export interface GateTerms {
  /** Absent in statements of version 1, which name neither asker nor server. Those approve nothing any more. */
  version?: 2 | undefined;
  confirmation_id: string;
  aggregator_id: string;
  /** Who asks, behind the name of each tree it was asked through. */
  asker?: string | undefined;
  server?: ServerTerms | undefined;
  route: readonly string[];
  /** The canonical name at the gate. */
  tool: string;
  /** `digestOf` the arguments. */
  arguments_digest: string;
  nonce: string;
  /** Seconds since 1970. */
  expires_at: number;
  /** There where the call has happened, and it is about whether its caller sees the result. */
  phase?: "result" | undefined;
  /** `sha256:` and base64url of the hash of the result's text; there with `phase`. */
  result_digest?: string | undefined;
}

export interface Statement extends GateTerms {
  decision: Decision;
  reason?: string;
}

export const gateReasonCharsMax = 1_000;
/** Of a gate's id, and an aggregator's. */
export const gateIdCharsMax = 128;
const nameCharsMax = 255;
const askerCharsMax = 4_096;
const routeMax = 128;
const digest = /^sha256:[A-Za-z0-9_-]{43}$/;
const nonce = /^[A-Za-z0-9_-]{16,128}$/;

const fields = [
  "aggregator_id",
  "arguments_digest",
  "asker",
  "confirmation_id",
  "decision",
  "expires_at",
  "nonce",
  "phase",
  "reason",
  "result_digest",
  "route",
  "server",
  "tool",
  "version",
];
const serverFields = ["definition", "identity", "name", "tool"];

/** Whether the statement says for whom and to which server the call goes. */
export function namesAsker(
  terms: GateTerms,
): terms is GateTerms & { version: 2; asker: string; server: ServerTerms } {
  return terms.version === 2;
}

export function statementOf(gate: GateTerms, decision: Decision, reason?: string): Statement {
  const { confirmation_id, aggregator_id, route, tool, arguments_digest, nonce, expires_at } = gate;
  const terms = { confirmation_id, aggregator_id, route, tool, arguments_digest, nonce, expires_at };
  const { phase, result_digest, version, asker, server } = gate;
  return {
    ...(version !== undefined && { version, asker, server }),
    ...terms,
    ...(phase && { phase, result_digest }),
    decision,
    ...(reason !== undefined && { reason }),
  };
}

/** What is signed, to the byte. */
export function statementText(statement: Statement): string {
  return canonicalJson(statement);
}

/** What a passkey signs. */
export function challengeOf(statement: Statement): Promise<string> {
  return sha256(statementText(statement));
}

/** Every field, or `bad_proof` with the name of the one that is wrong. What is not known is not signed lightly. */
export function readStatement(value: unknown): Statement {
  if (!isObject(value)) throw new McpxError("bad_proof", "the statement is not an object");
  const unknown = Object.keys(value).find((key) => !fields.includes(key));
  if (unknown !== undefined) throw new McpxError("bad_proof", "the statement has a field that is not known");
  const { reason, expires_at } = value;
  const terms = {
    ...readVersion(value),
    confirmation_id: readId(value, "confirmation_id"),
    aggregator_id: readId(value, "aggregator_id"),
    route: readRoute(value.route),
    tool: readName(value.tool, "tool"),
    arguments_digest: readShape(value, "arguments_digest", digest),
    nonce: readShape(value, "nonce", nonce),
    expires_at: readSeconds(expires_at),
    ...readPhase(value),
  };
  return statementOf(
    terms,
    readDecision(value.decision),
    reason === undefined ? undefined : readReason(reason),
  );
}

function readId(value: JsonObject, field: "confirmation_id" | "aggregator_id"): string {
  const id = value[field];
  if (!isId(id, gateIdCharsMax)) throw bad(field, "an id");
  return id;
}

function readRoute(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > routeMax) throw bad("route", `at most ${routeMax} segments`);
  return value.map((segment) => readName(segment, "route"));
}

function readName(value: unknown, field: string): string {
  if (typeof value !== "string" || value === "" || value.length > nameCharsMax || !value.isWellFormed()) {
    throw bad(field, `a name of at most ${nameCharsMax} characters`);
  }
  return value;
}

/** Version 1 has neither asker nor server; a statement never has one of the two alone. */
function readVersion(value: JsonObject): Pick<GateTerms, "version" | "asker" | "server"> {
  const { version, asker, server } = value;
  if (version === undefined && asker === undefined && server === undefined) return {};
  if (version !== 2) throw bad("version", "2");
  if (typeof asker !== "string" || asker === "" || asker.length > askerCharsMax || !asker.isWellFormed()) {
    throw bad("asker", `a name of at most ${askerCharsMax} characters`);
  }
  return { version, asker, server: readServer(server) };
}

function readServer(value: unknown): ServerTerms {
  if (!isObject(value)) throw bad("server", "an object");
  if (Object.keys(value).some((key) => !serverFields.includes(key))) {
    throw bad("server", `an object of ${serverFields.join(", ")}`);
  }
  return {
    name: readName(value.name, "server.name"),
    identity: readName(value.identity, "server.identity"),
    tool: readName(value.tool, "server.tool"),
    definition: readShape(value, "definition", digest),
  };
}

/** One is nothing without the other: what is signed is either about a call or about its very result. */
function readPhase(value: JsonObject): Pick<GateTerms, "phase" | "result_digest"> {
  const { phase, result_digest } = value;
  if (phase === undefined && result_digest === undefined) return {};
  if (phase !== "result") throw bad("phase", "result, or not there");
  return { phase, result_digest: readShape(value, "result_digest", digest) };
}

type Shaped = "arguments_digest" | "result_digest" | "nonce" | "definition";

function readShape(value: JsonObject, field: Shaped, shape: RegExp): string {
  const text = value[field];
  if (typeof text !== "string" || !shape.test(text)) throw bad(field, "base64url of the right length");
  return text;
}

function readSeconds(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) <= 0) {
    throw bad("expires_at", "a whole number of seconds since 1970");
  }
  return value as number;
}

function readDecision(value: unknown): Decision {
  const decision = decisions.find((known) => known === value);
  if (decision === undefined) throw bad("decision", decisions.join(" or "));
  return decision;
}

function readReason(value: unknown): string {
  if (typeof value !== "string" || value.length > gateReasonCharsMax || !value.isWellFormed()) {
    throw bad("reason", `a string of at most ${gateReasonCharsMax} characters`);
  }
  return value;
}

function bad(field: string, wanted: string): McpxError {
  return new McpxError("bad_proof", `${field} of the statement must be ${wanted}`);
}
