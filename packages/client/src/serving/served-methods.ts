// What a server in a room answers: tools; resources and prompts only where its holder said so. [X0-9-6]

import { isObject, type JsonObject, written } from "@mcpx/protocol";
import { mcpRevisions } from "../calls/handshake.ts";
import { RoomError } from "../core/room-error.ts";
import type { ServeGuard } from "./serve-guard.ts";

export interface ServeOptions {
  /** Who may call which tools; made by `createGuard` of `@mcpx/client/guard`. Without, everybody may. */
  guard?: ServeGuard;
  /**
   * Exposes the server's resources too. Everybody in the topic sees what is read, so the topic is named:
   * `resources: "kitchen"` works in the room `kitchen` and nowhere else.
   */
  resources?: string;
  /** Exposes the server's prompts too. */
  prompts?: boolean;
  /** Requests beyond those of tools that the server answers, such as `mcpax/confirm`. */
  methods?: readonly string[];
  /** Asked for every request, before anything is done for it: how long this peer has to wait, where it asks too often. */
  retryAfterMs?: (peer: string) => number | undefined;
}

export function checkServeOptions({ resources }: ServeOptions, topic: string): void {
  if (resources === undefined || resources === topic) return;
  throw new RoomError("bad_option", `resources names ${resources}, but everybody in ${topic} would see them`);
}

/** Deny by default: what is not listed is not there. */
export function isServed(method: string, { resources, prompts, methods }: ServeOptions): boolean {
  if (method === "initialize" || method === "ping" || methods?.includes(method)) return true;
  const [part] = method.replace(/^notifications\//, "").split("/");
  if (part === "tools") return true;
  if (part === "resources") return resources !== undefined;
  return part === "prompts" && prompts === true;
}

/** What a server says of itself, with only the capabilities that are served. */
export function shownIntroduction(
  result: JsonObject,
  options: ServeOptions,
  askedRevision: unknown,
): JsonObject {
  const offered = isObject(result.capabilities) ? result.capabilities : {};
  const capabilities = Object.fromEntries(
    Object.entries(offered).filter(([name]) => isServed(`${name}/list`, options)),
  );
  const own = written(result.protocolVersion);
  const asked = written(askedRevision);
  // Revisions are dates, so they compare as text.
  const protocolVersion = mcpRevisions.includes(asked) && asked <= own ? asked : own;
  return { ...result, protocolVersion, capabilities };
}
