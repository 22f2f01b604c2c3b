// Our own place in a tree above: we register there as any subserver does, and serve what we have over the same
// connection. [AX-5.3-1]
import { type Subserver as OwnRegistration, registerWith } from "@mcpx/client/subserver";
import type { Clock, Logger } from "@mcpx/host";
import {
  closingIdsKey,
  isObject,
  isUuid,
  type JsonObject,
  type Limits,
  McpxError,
  parseExact,
  subtreeIdsMax,
} from "@mcpx/protocol";
import { WebSocket } from "ws";
import { createMessageEndpoint } from "../endpoints/message-endpoint.ts";
import { innerPrincipal } from "../mcp/plain-caller.ts";
import type { Tree } from "../mcp/tree.ts";

export interface ParentOptions {
  url: string;
  /** What we want to be called there. */
  segment: string;
  token?: string | (() => string | Promise<string>) | undefined;
  authority?: string | undefined;
  authorityProof?: string | (() => string | Promise<string>) | undefined;
  backups?: readonly string[] | undefined;
  heartbeatMs?: number | undefined;
  /** Globs over our names: what the parents may use. */
  tools?: readonly string[] | undefined;
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined;
  /** Plain text to other machines than this one. */
  isInsecure?: boolean | undefined;
}

export interface ParentParts {
  subserverId: string;
  tree: Tree;
  /** Of aggregators: our own id and all below us. */
  subtreeIds: (() => readonly string[]) | undefined;
  /** The `subserver_id`s of all subservers below this tree. */
  subserverIds?: (() => readonly string[]) | undefined;
  /** Some of those are registered elsewhere in the tree above. */
  onRefused?: ((subserverIds: readonly string[]) => void) | undefined;
  /** It will not have us because of these ids below us, which stand above. */
  onCycle?: ((closingIds: readonly string[]) => void) | undefined;
  onState?: ((state: OwnRegistration["state"], error: Error | undefined) => void) | undefined;
  clock: Clock;
  log: Logger;
  limits: Limits;
}

export interface Parent {
  readonly url: string;
  readonly registration: OwnRegistration;
  close(): Promise<void>;
}

/** Throws where the address would carry our credentials in plain text over a network. [AX-10.4-1] */
export function registerAt(options: ParentOptions, parts: ParentParts): Parent {
  const { url, segment, backups = [], tls } = options;
  const { subserverId, log, subtreeIds, subserverIds, onRefused, onCycle, onState } = parts;
  for (const one of [url, ...backups]) checkAddress(one, options);
  const registration = registerWith(url, {
    segment,
    server: () => served(options, parts),
    subserverId,
    token: options.token,
    authority: options.authority,
    authorityProof: options.authorityProof,
    backups,
    heartbeatMs: options.heartbeatMs,
    subtreeIds,
    subserverIds,
    onRefused,
    parse: parseExact,
    openSocket: (address, headers) => new WebSocket(address, { headers, ...tls, minVersion: "TLSv1.3" }),
    onState: (state, error) => {
      const level = isCycle(error) ? "warn" : "info";
      log[level](
        { parent: url, segment, state, reason: error?.message },
        "registration at the parent changed",
      );
      if (isCycle(error)) onCycle?.(closingIdsOf(error));
      onState?.(state, error);
    },
  });
  return { url, registration, close: () => registration.close() };
}

/** It is tried again for as long as it takes, and only an operator can end it. */
function isCycle(error: (Error & { reason?: unknown }) | undefined): boolean {
  return error?.reason === "registration_cycle";
}

/** As a refusal names them; none where it does not. */
export function closingIdsOf(error: unknown): string[] {
  const { data } = error as { data?: unknown };
  const ids = isObject(data) ? data[closingIdsKey] : undefined;
  return Array.isArray(ids) ? ids.slice(0, subtreeIdsMax).filter(isUuid) : [];
}

/** Whether it would carry what is said over a network for everybody to read. */
export function isPlainAbroad(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const isPlain = protocol === "ws:" || protocol === "http:";
  const isHere =
    hostname === "localhost" || hostname === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
  return isPlain && !isHere;
}

function checkAddress(url: string, { isInsecure }: ParentOptions): void {
  if (isInsecure === true || !isPlainAbroad(url)) return;
  throw new McpxError("bad_request", `${url} is plain text over a network: use wss, or allow it explicitly`);
}

/** The tree as a server for its parent; the operator says which tools the parent may use. */
function served(
  { segment, tools = ["**"] }: ParentOptions,
  { tree, clock, log, limits, subserverId }: ParentParts,
) {
  const principal = innerPrincipal(`parent:${segment}`, tools, subserverId);
  let closeEndpoint = () => {};
  return {
    async connect(transport: ParentTransport): Promise<void> {
      const write = (message: JsonObject | JsonObject[]) => {
        transport.send(message as JsonObject).catch((error: unknown) => {
          log.debug({ err: error }, "could not notify the parent");
        });
      };
      const channel = { write, writeAside: write, isBehind: () => false, onDone: () => {} };
      const options = { log, clock, limits, names: "canonical", ownSegment: segment } as const;
      const endpoint = createMessageEndpoint(tree, principal, channel, options);
      closeEndpoint = endpoint.close;
      transport.onmessage = endpoint.takeMessage;
      transport.onclose = endpoint.close;
      await transport.start();
    },
    close: async () => closeEndpoint(),
  };
}

interface ParentTransport {
  start(): Promise<void>;
  send(message: JsonObject): Promise<void>;
  onmessage?: ((message: JsonObject) => void) | undefined;
  onclose?: (() => void) | undefined;
}
