// Who asks, through all hops: a tree tells the one below for whom it asks, so that nobody approves there what they have
// asked for above, and nobody's gate is taken for another's. Only the tree above is believed. [AX-11.3-6]
import { thumbprint } from "@mcpx/host";
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Asker, Caller } from "./exchange.ts";
import { principalName } from "./plain-caller.ts";

const askerKey = "x-mcpax-asker";
const nameCharsMax = 2_048;
const keysMax = 16;
const thumbprintShape = /^[A-Za-z0-9_-]{43}$/;

export function askerOf({ principal, asker }: Pick<Caller, "principal" | "asker">): Asker {
  if (asker !== undefined) return asker;
  const { key } = principal;
  return { name: principalName(principal), keys: key === undefined ? [] : [thumbprint(key)] };
}

/** As the tree above says it, behind the name we have for that tree. Throws `bad_params`. */
export function readAsker(params: JsonObject, parent: string): Asker | undefined {
  const told = isObject(params._meta) ? params._meta[askerKey] : undefined;
  if (told === undefined) return undefined;
  const { name, keys } = isObject(told) ? told : {};
  if (!isName(name) || !isKeys(keys)) throw new McpxError("bad_params", `_meta ${askerKey} is malformed`);
  return { name: `${parent}/${name}`, keys };
}

/** For a tree below. */
export function withAsker(params: JsonObject, caller: Caller): JsonObject {
  const { name, keys } = askerOf(caller);
  return { ...params, _meta: { ...(isObject(params._meta) && params._meta), [askerKey]: { name, keys } } };
}

/** Whether this is the name of who asks, at whatever hop; approvers' names differ by more than their case. */
export function isNamed(asker: string, name: unknown): boolean {
  if (typeof name !== "string") return false;
  const [one, other] = [asker.toLowerCase(), name.toLowerCase()];
  return one === other || one.endsWith(`/${other}`);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= nameCharsMax && value.isWellFormed();
}

function isKeys(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= keysMax &&
    value.every((key) => typeof key === "string" && thumbprintShape.test(key))
  );
}
