// Registering a server with an aggregator: what can be said about it, checked before anything is sent. [AX-6.1-1]
import {
  isMcpxError,
  type JsonObject,
  type RegistrationCapabilities,
  readRegistration,
  registrationVersion,
  subserverIdsKey,
  subtreeIdsKey,
  type TransportClass,
} from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";
import { asError, RoomError } from "../core/room-error.ts";
import type { ServableServer } from "../serving/served-link.ts";
import { endpointAddress, type SubserverTransport } from "./address.ts";
import type { Channel, ChannelOptions } from "./channel.ts";
import { openHttpChannel } from "./channel-http.ts";
import { type OpenSocket, openPlatformSocket, openSocketChannel } from "./channel-socket.ts";
import { ServerSource, type SubserverFactory } from "./server-source.ts";
import { Subserver, type SubserverState } from "./subserver.ts";

type Given = string | (() => string | Promise<string>);

export interface RegisterOptions {
  /** The segment to register in the tree: 1 to 63 characters out of a-z 0-9 _ -. */
  segment: string;
  /**
   * An `McpServer` or `Server` of either official SDK, which is connected anew after every loss; or a factory that makes
   * a fresh one for every connection. Closing it leaves the tree.
   */
  server: ServableServer | SubserverFactory;
  /** A function is asked at every registration. Who shows a client certificate by `openSocket` needs none. */
  token?: Given | undefined;
  /** The DNS name we stand for: `dns:edge01.example.com`. */
  authority?: string | undefined;
  /** A JWT that proves it. One is good for one registration: give a function. */
  authorityProof?: Given | undefined;
  /** Aggregators to go to once the lease of the last one is over. We stay where we are taken. [AX-13.3-3] */
  backups?: readonly string[] | undefined;
  /** A UUID by which we are known again. Give one that stays the same; a random one is used unless given. */
  subserverId?: string | undefined;
  /** 5 000 unless given; 0 for none. The aggregator may set another. */
  heartbeatMs?: number | undefined;
  /** What we have; what is false is never asked for. All of it unless given. */
  capabilities?: Partial<RegistrationCapabilities> | undefined;
  /** How the server is reached behind us; the transport's own name unless given. */
  transportClass?: TransportClass | undefined;
  /** Of aggregators: their own id and all below them. [AX-5.3-2] */
  subtreeIds?: (() => readonly string[]) | undefined;
  /** Of aggregators: the `subserverId`s of all that are registered below them. [AX-13.4-1] */
  subserverIds?: (() => readonly string[]) | undefined;
  /** Told which of those are registered elsewhere in the tree, and must go. */
  onRefused?: ((subserverIds: readonly string[]) => void) | undefined;
  /** `websocket` unless given. Browsers need `http`: their WebSocket takes no token. */
  transport?: SubserverTransport | undefined;
  /** Opens the WebSocket, for those who bring TLS options or a library of their own. */
  openSocket?: OpenSocket | undefined;
  /** Reads JSON; `JSON.parse` unless given. For those who hand on numbers that it would round. */
  parse?: ((text: string) => unknown) | undefined;
  /** Told of every change, with what went wrong where something did. */
  onState?: ((state: SubserverState, error: Error | undefined) => void) | undefined;
}

const heartbeatMsDefault = 5_000;

/**
 * Registers a server with the aggregator at `url` (`http://host:port`, or `ws://host:port/ax`) and keeps it registered.
 * Returns at once; `registered` tells how it went.
 * @example
 * await using subserver = registerWith("http://127.0.0.1:6279", { segment: "oven", server, token, subserverId });
 * await subserver.registered;
 */
export function registerWith(url: string, options: RegisterOptions): Subserver {
  const { token, authorityProof, backups = [], subtreeIds, transport = "websocket", onState } = options;
  const fixed = fixedParams(options, transport);
  check({ ...fixed, ...subtreeParam(options) });
  return new Subserver({
    addresses: [...new Set([url, ...backups].map((address) => endpointAddress(address, transport)))],
    servers: new ServerSource(options.server),
    token: async () => token && (await ask("token", token)),
    params: async () => ({
      ...fixed,
      ...(authorityProof !== undefined && { authority_proof: await ask("authorityProof", authorityProof) }),
      ...subtreeParam(options),
    }),
    subtree: subtreeIds && (() => subtreeParam(options)),
    onRefused: options.onRefused,
    open: (address, bearer, first, taker) => {
      const { parse = JSON.parse } = options;
      return openChannel(address, bearer, { first, taker, parse }, options);
    },
    onState,
  });
}

function fixedParams(options: RegisterOptions, transport: SubserverTransport): JsonObject {
  const { segment, authority, capabilities, transportClass = transport } = options;
  const { subserverId = newUuid(), heartbeatMs = heartbeatMsDefault } = options;
  return {
    subserver_id: subserverId,
    segment,
    ...(authority !== undefined && { authority }),
    capabilities: { tools: true, resources: true, prompts: true, notifications: true, ...capabilities },
    heartbeat_interval_ms: heartbeatMs,
    transport_class: transportClass,
    version: registrationVersion,
  };
}

function subtreeParam({ subtreeIds, subserverIds }: RegisterOptions): JsonObject {
  if (subtreeIds === undefined) return {};
  return {
    [subtreeIdsKey]: [...subtreeIds()],
    ...(subserverIds !== undefined && { [subserverIdsKey]: [...subserverIds()] }),
  };
}

/** An aggregator would say the same, later. */
function check(params: JsonObject): void {
  try {
    readRegistration(params);
  } catch (cause) {
    throw new RoomError("bad_option", isMcpxError(cause) ? cause.detail : asError(cause).message, { cause });
  }
}

async function ask(name: string, given: Given): Promise<string> {
  try {
    return typeof given === "function" ? await given() : given;
  } catch (cause) {
    throw new RoomError("network", `${name} failed: ${asError(cause).message}`, { cause });
  }
}

function openChannel(
  address: string,
  token: string | undefined,
  channel: ChannelOptions,
  { transport, openSocket = openPlatformSocket }: RegisterOptions,
): Channel {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  if (transport === "http") return openHttpChannel(address, headers, channel);
  return openSocketChannel(openSocket(address, headers), channel);
}

/** `crypto.randomUUID` is missing on pages served without TLS. */
function newUuid(): string {
  const hex = newId();
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) % 4];
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20)].join("-");
}
