// How a server asks to be part of a tree, in words: `mcpax/register` and what belongs to it. Pure. [AX-6.1-1]
import { McpxError } from "../errors.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";

export const registrationMethods = {
  register: "mcpax/register",
  heartbeat: "mcpax/heartbeat",
  deregister: "mcpax/deregister",
  /** Says that the subtree has changed. */
  update: "mcpax/update",
  /** Asked by an aggregator: whose subserver are you now? [AX-13.4-2] */
  parent: "mcpax/parent",
} as const;

/** What an aggregator says upward of its own. [AX-12-4] */
export const treeNotifications = {
  subserverLost: "notifications/mcpax/subserver_lost",
  notificationOverflow: "notifications/mcpax/notification_overflow",
} as const;

/** Of this wire. */
export const registrationVersion = "2026-05-01";

export const transportClasses = [
  "native",
  "websocket",
  "http",
  "stdio",
  "uart_cbor",
  "ble_cbor",
  "spi_cbor",
  "can_cbor",
  "mqtt_json",
] as const;
export type TransportClass = (typeof transportClasses)[number];

export interface RegistrationCapabilities {
  tools: boolean;
  resources: boolean;
  prompts: boolean;
  notifications: boolean;
}

export interface Registration {
  subserverId: string;
  segment: string;
  /** A DNS name, without `dns:`. */
  authority: string | undefined;
  authorityProof: string | undefined;
  capabilities: RegistrationCapabilities;
  /** Within bounds; 0 is none. [AX-6.3-2] */
  heartbeatMs: number;
  transport: TransportClass;
  version: string;
  /** Of aggregators: its own id and those of all below it. `undefined`: it is none. [AX-5.3-2] */
  subtreeIds: readonly string[] | undefined;
  /** Of aggregators: the `subserver_id`s of all that are registered below it. [AX-13.4-1] */
  subserverIds: readonly string[];
}

/** Not negotiable; what is absent is unlimited. [AX-11.4-3] */
export interface Budget {
  max_calls_per_minute?: number;
  max_mutable_calls_per_session?: number;
  max_cost_units_per_session?: number;
}

export interface RegistrationAnswer {
  status: "registered";
  assigned_segment: string;
  session_id: string;
  /** As it counts here, which may be another than was asked for. */
  heartbeat_interval_ms: number;
  /** After this much silence the registration is over; 0 where there are no heartbeats. */
  heartbeat_deadline_ms: number;
  /** After this much silence nothing is dispatched any more, and another aggregator may take over. */
  lease_ms: number;
  aggregator_id: string;
  /** Counts the owners this subserver has had. */
  epoch: number;
  budget?: Budget;
  /** Of `x-mcpax-subserver-ids` those that are registered elsewhere in the tree: they must go. [AX-13.4-1] */
  refused_subserver_ids?: readonly string[];
}

export const subtreeIdsKey = "x-mcpax-subtree-ids";
/** In the `data` of a `registration_cycle`: which of the ids below the registrant close it. */
export const closingIdsKey = "closing_ids";
export const subserverIdsKey = "x-mcpax-subserver-ids";

export const heartbeatMsMin = 100;
export const heartbeatMsMax = 300_000;
export const subtreeIdsMax = 4_096;
export const subserverIdsMax = 20_000;

const missedMax = 3;
const missedForLease = 2;

/** Three missed heartbeats end it. [AX-6.2-1] [AX-6.3-1] */
export function deadlineMs(heartbeatMs: number): number {
  return missedMax * heartbeatMs;
}

/** Shorter than the deadline, so that nobody is in two trees. [AX-13.3-3] */
export function leaseMs(heartbeatMs: number): number {
  return missedForLease * heartbeatMs;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const segment = /^[a-z0-9_-]{1,63}$/;
const label = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const proofCharsMax = 8_192;
const dnsCharsMax = 253;

export function isUuid(value: unknown): value is string {
  return typeof value === "string" && uuid.test(value);
}

/** Every field of `mcpax/register`, or `bad_params` with the name of the one that is wrong. [AX-6.1-2] */
export function readRegistration(params: JsonObject): Registration {
  return {
    subserverId: readUuid(params.subserver_id, "subserver_id"),
    segment: readSegment(params.segment),
    authority: readAuthority(params.authority),
    authorityProof: readProof(params.authority_proof),
    capabilities: readCapabilities(params.capabilities),
    heartbeatMs: readHeartbeat(params.heartbeat_interval_ms),
    transport: readTransport(params.transport_class),
    version: readVersion(params.version),
    subtreeIds: readSubtreeIds(params[subtreeIdsKey]),
    subserverIds: readSubserverIds(params[subserverIdsKey]),
  };
}

/** Of `mcpax/update` too. */
export function readSubtreeIds(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0) throw bad(subtreeIdsKey, "a list of UUIDs");
  if (value.length > subtreeIdsMax) throw bad(subtreeIdsKey, `at most ${subtreeIdsMax} UUIDs`);
  return [...new Set(value.map((id) => readUuid(id, subtreeIdsKey)))];
}

/** Of `mcpax/update` too. An aggregator that does not say has none below it. */
export function readSubserverIds(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw bad(subserverIdsKey, "a list of UUIDs");
  if (value.length > subserverIdsMax) throw bad(subserverIdsKey, `at most ${subserverIdsMax} UUIDs`);
  return [...new Set(value.map((id) => readUuid(id, subserverIdsKey)))];
}

export function readUuid(value: unknown, field: string): string {
  const lower = typeof value === "string" ? value.toLowerCase() : value;
  if (!isUuid(lower)) throw bad(field, "a UUID");
  return lower;
}

function readSegment(value: unknown): string {
  if (typeof value !== "string" || !segment.test(value)) {
    throw bad("segment", "1 to 63 characters out of a-z 0-9 _ -");
  }
  return value;
}

/** `dns:name`, compared as DNS does: without case. Look-alikes in other scripts are no names here. */
function readAuthority(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const name = typeof value === "string" && value.startsWith("dns:") ? value.slice(4) : "";
  if (name.length > dnsCharsMax || !name.split(".").every((part) => label.test(part))) {
    throw bad("authority", "dns: and a DNS name, such as dns:edge01.example.com");
  }
  // Only now: other letters would become these.
  return name.toLowerCase();
}

function readProof(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "" || value.length > proofCharsMax) {
    throw bad("authority_proof", `a JWT of at most ${proofCharsMax} characters`);
  }
  return value;
}

/** What is not declared is not there, and never asked for. */
function readCapabilities(value: unknown): RegistrationCapabilities {
  if (!isObject(value)) throw bad("capabilities", "an object of true and false");
  const flag = (name: keyof RegistrationCapabilities) => {
    const given = value[name];
    if (given !== undefined && typeof given !== "boolean") {
      throw bad(`capabilities.${name}`, "true or false");
    }
    return given === true;
  };
  return {
    tools: flag("tools"),
    resources: flag("resources"),
    prompts: flag("prompts"),
    notifications: flag("notifications"),
  };
}

function readHeartbeat(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw bad("heartbeat_interval_ms", "a number of milliseconds, 0 for none");
  }
  return value === 0 ? 0 : Math.round(Math.min(heartbeatMsMax, Math.max(heartbeatMsMin, value)));
}

function readTransport(value: unknown): TransportClass {
  if (!transportClasses.includes(value as TransportClass)) {
    throw bad("transport_class", `one of ${transportClasses.join(", ")}`);
  }
  return value as TransportClass;
}

function readVersion(value: unknown): string {
  if (value !== registrationVersion) throw bad("version", registrationVersion);
  return registrationVersion;
}

function bad(field: string, wanted: string): McpxError {
  return new McpxError("bad_params", `params.${field} must be ${wanted}`);
}
