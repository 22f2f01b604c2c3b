// Whose word it is that a tool is dangerous or harmless: the operator's, its server's, or nobody's. [AX-9.1-2]
import { believedKey, capabilityKey, describesDanger, isObject, type JsonObject } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";

export type WhoseWord =
  /** The configuration says it of this tool. */
  | "operator"
  /** The server says it, and is trusted. */
  | "server"
  /** The server is not trusted, and warns: that is believed. */
  | "server_warns"
  /** The server says that it is more harmless, and is not trusted. */
  | "not_believed"
  /** The server says nothing. */
  | "assumed";

export function whoseWord({ server, name, item }: Pick<Entry, "server" | "name" | "item">): WhoseWord {
  if (server.overrides?.tools.get(name)?.capability !== undefined) return "operator";
  const meta = isObject(item._meta) ? item._meta : {};
  const said = [meta[capabilityKey], meta[believedKey]].filter((one) => one !== undefined);
  const hints = item.annotations;
  if (server.isTrusted) return said.length > 0 || isObject(hints) ? "server" : "assumed";
  const annotations = said.filter(isObject);
  const isWarning =
    annotations.length > 0 ? annotations.some(warns) : isObject(hints) && isDestructive(hints);
  if (isWarning) return "server_warns";
  return describesDanger(item) ? "not_believed" : "assumed";
}

function warns({ mutable, reversible }: JsonObject): boolean {
  return mutable === true && reversible === false;
}

function isDestructive({ readOnlyHint, destructiveHint }: JsonObject): boolean {
  return readOnlyHint !== true && destructiveHint === true;
}
