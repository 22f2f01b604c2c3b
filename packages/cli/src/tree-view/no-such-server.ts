// A server that the gateway does not know by this name, and those it does.
import type { JsonObject } from "@mcpx/protocol";
import type { Context, gatewayOptions } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { visible } from "../framework/visible.ts";
import { serversNow } from "./look-at-tree.ts";

const namesShown = 20;

/** Says what there is where there is no such server; other faults stay as they are. */
export async function knowingServers<T>(
  context: Context<typeof gatewayOptions>,
  name: string,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== "not_found") throw error;
    // A user who may not see the servers gets the gateway's own error.
    const servers = await serversNow(context).catch(() => undefined);
    throw (servers && serverFault(name, servers)) ?? error;
  }
}

/** `undefined` where nothing is wrong with the name; it was asked for as one that users sign in to. */
function serverFault(name: string, servers: readonly JsonObject[]): Failure | undefined {
  const found = servers.find((one) => one.name === name || one.segment === name);
  if (found === undefined) return new Failure(`there is no server ${name}`, listText(servers));
  if (found.users !== undefined) return undefined;
  const others = servers.filter(({ users }) => users !== undefined);
  const fix =
    others.length === 0
      ? "no server here has users who sign in"
      : `they sign in to: ${namesText(others.map(nameOf))}`;
  return new Failure(`users do not sign in to ${name} themselves`, fix);
}

function listText(servers: readonly JsonObject[]): string {
  if (servers.length === 0) return "there is none: mcpx add puts one in";
  return `there ${servers.length === 1 ? "is" : "are"}: ${namesText(servers.map(nameOf))}`;
}

function nameOf({ name }: JsonObject): string {
  return String(name);
}

/** So many at most, and how many more there are. */
export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, namesShown).map(visible).join(", ");
  return names.length > namesShown ? `${shown} and ${names.length - namesShown} more` : shown;
}
