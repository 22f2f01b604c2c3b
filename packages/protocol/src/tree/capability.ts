// What a tool says of its danger and its cost, and what is believed of it. Pure. [AX-9.1-1]
import { isObject, type JsonObject } from "../json/json-rpc.ts";

/** From quick to slow. */
export const latencyClasses = ["realtime", "fast", "standard", "slow", "batch"] as const;
export type LatencyClass = (typeof latencyClasses)[number];

/** Every list goes from harmless to the most cautious reading. [AX-9.1-3] */
const consistencies = ["strong", "eventual", "best_effort"] as const;
export const authScopes = ["read", "write", "admin"] as const;
export type AuthScope = (typeof authScopes)[number];
const costClasses = ["free", "metered", "expensive"] as const;
const availabilities = ["always", "scheduled", "best_effort", "degraded"] as const;

export interface Capability {
  latency_class: LatencyClass;
  consistency: (typeof consistencies)[number];
  mutable: boolean;
  reversible: boolean;
  idempotent: boolean;
  transport: string;
  auth_scope: AuthScope;
  cost_class: (typeof costClasses)[number];
  availability: (typeof availabilities)[number];
  schema_version: string;
}

/** What a tool's server says of it: goes up as it is. [AX-9.2-1] */
export const capabilityKey = "x-mcpax-capability";
/**
 * What the hop that lists the tool believes of it, complete: travels beside the annotation, each hop writes its own.
 */
export const believedKey = "x-mcpax-believed";
/** Of an annotation, as JSON. A stranger wrote it, and every hop keeps and passes it. */
export const annotationCharsMax = 8_192;

/** How a tool is read that says nothing of itself: it changes things, for good. [AX-9.1-1] */
export const cautious: Readonly<Capability> = Object.freeze({
  latency_class: "standard",
  consistency: "best_effort",
  mutable: true,
  reversible: false,
  idempotent: false,
  transport: "native",
  auth_scope: "write",
  cost_class: "metered",
  availability: "best_effort",
  schema_version: "0.0.0",
});

/** How a tool describes itself that only looks, at once and for nothing. */
export const harmless: Readonly<Capability> = Object.freeze({
  latency_class: "fast",
  consistency: "strong",
  mutable: false,
  reversible: true,
  idempotent: true,
  transport: "native",
  auth_scope: "read",
  cost_class: "free",
  availability: "always",
  schema_version: "1.0.0",
});

/** Whether a tool, by what it says of itself, may stand where no more than this is allowed. [AX-10.2-1] [AX-10.2-2] */
export function fitsScope({ auth_scope, mutable }: Readonly<Capability>, scope: AuthScope): boolean {
  const wanted = mutable && auth_scope === "read" ? "write" : auth_scope;
  return authScopes.indexOf(wanted) <= authScopes.indexOf(scope);
}

/** Whether a tool says anything of its danger: by an annotation, or by one of MCP's hints. A title is none of them. */
export function describesDanger({ _meta, annotations }: JsonObject): boolean {
  if (isObject(_meta) && [capabilityKey, believedKey].some((key) => isObject(_meta[key]))) return true;
  if (!isObject(annotations)) return false;
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
  return [readOnlyHint, destructiveHint, idempotentHint].some((hint) => typeof hint === "boolean");
}

/**
 * What is to be believed of a tool: its annotation and what the hop below believes of it, field by field the stricter
 * of the two; else what its MCP hints say; else the cautious reading. A hop that believes less loosens nothing the
 * tool's server has said. [AX-9.1-2] [AX-9.2-2]
 */
export function capabilityOf(tool: JsonObject, isTrusted: boolean): Readonly<Capability> {
  const meta = isObject(tool._meta) ? tool._meta : {};
  const said = readAny(meta[capabilityKey]);
  const believed = readAny(meta[believedKey]);
  const both = said && believed && stricterOf(believed, said);
  const declared = both ?? said ?? believed ?? fromHints(tool.annotations);
  return isTrusted ? declared : raised(declared);
}

/** What is there and no annotation is one that says nothing: all of it is read as the most cautious. */
function readAny(annotation: unknown): Readonly<Capability> | undefined {
  return annotation === undefined ? undefined : readCapability(isObject(annotation) ? annotation : {});
}

/** What the gateway that lists a tool believes of it; of an older gateway, the annotation it has made of that. */
export function believedOf({ _meta }: JsonObject): JsonObject {
  const meta = isObject(_meta) ? _meta : {};
  const believed = meta[believedKey] ?? meta[capabilityKey];
  return isObject(believed) ? believed : {};
}

/** Each field of an annotation; what is unknown or missing counts as the most cautious. [AX-9.1-3] */
export function readCapability(annotation: JsonObject): Readonly<Capability> {
  const { mutable, reversible, idempotent, transport, schema_version } = annotation;
  return {
    latency_class: oneOf(latencyClasses, annotation.latency_class, "standard"),
    consistency: oneOf(consistencies, annotation.consistency, "best_effort"),
    mutable: mutable !== false,
    reversible: reversible === true,
    idempotent: idempotent === true,
    transport: typeof transport === "string" ? transport : "native",
    auth_scope: oneOf(authScopes, annotation.auth_scope, "admin"),
    cost_class: oneOf(costClasses, annotation.cost_class, "expensive"),
    availability: oneOf(availabilities, annotation.availability, "best_effort"),
    schema_version: typeof schema_version === "string" ? schema_version : "0.0.0",
  };
}

/** MCP's own hints; those that are absent are read as MCP says, which is cautious too. */
function fromHints(hints: unknown): Readonly<Capability> {
  if (!isObject(hints)) return cautious;
  const mutable = hints.readOnlyHint !== true;
  return {
    ...cautious,
    mutable,
    reversible: !mutable || hints.destructiveHint === false,
    idempotent: !mutable || hints.idempotentHint === true,
    auth_scope: mutable ? "write" : "read",
  };
}

/** What somebody untrusted says may only raise protection, never lower it. [AX-9.1-2] */
function raised(declared: Readonly<Capability>): Readonly<Capability> {
  if (declared === cautious) return cautious;
  return {
    ...declared,
    mutable: true,
    reversible: false,
    idempotent: false,
    consistency: "best_effort",
    auth_scope: declared.auth_scope === "admin" ? "admin" : "write",
    cost_class: declared.cost_class === "expensive" ? "expensive" : "metered",
  };
}

/** Of two readings, field by field the more cautious one. */
export function stricterOf(a: Readonly<Capability>, b: Readonly<Capability>): Readonly<Capability> {
  const later = <T extends string>(order: readonly T[], one: T, other: T) =>
    order.indexOf(one) < order.indexOf(other) ? other : one;
  return {
    ...a,
    latency_class: later(latencyClasses, a.latency_class, b.latency_class),
    consistency: later(consistencies, a.consistency, b.consistency),
    mutable: a.mutable || b.mutable,
    reversible: a.reversible && b.reversible,
    idempotent: a.idempotent && b.idempotent,
    auth_scope: later(authScopes, a.auth_scope, b.auth_scope),
    cost_class: later(costClasses, a.cost_class, b.cost_class),
    availability: later(availabilities, a.availability, b.availability),
  };
}

/** Classified as irreversible. [AX-11.2-1] */
export function isIrreversible({ mutable, reversible }: Pick<Capability, "mutable" | "reversible">): boolean {
  return mutable && !reversible;
}

function oneOf<T extends string>(values: readonly T[], value: unknown, otherwise: T): T {
  return values.includes(value as T) ? (value as T) : otherwise;
}

/** Whether a call may be made again without looking first what the failed one has done. [AX-9.1-4] */
export function mayRepeat({ mutable, idempotent, consistency }: Capability): boolean {
  return !mutable || (idempotent && consistency === "strong");
}

/** Whether calls of several such tools side by side see each other's effects. [AX-9.1-4] */
export function seesFreshState({ consistency }: Capability): boolean {
  return consistency === "strong";
}
