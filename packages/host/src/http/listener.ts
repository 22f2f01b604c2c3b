// The one HTTP(S) server of a process: its socket, its time limits, upgrades, and its end. [X0-9-2]
import { X509Certificate } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions as TlsServerOptions } from "node:tls";
import { type Limits, McpxError } from "@mcpx/protocol";
import { type ByteLedger, createByteLedger } from "../fair/byte-ledger.ts";
import { paceInput, type Share } from "../fair/paced-input.ts";
import { createTurns, type Turns } from "../fair/turns.ts";
import type { Logger } from "../logging/log.ts";
import type { Metrics } from "../logging/metrics.ts";
import { isLoopbackHost } from "./addresses.ts";
import { createAnswer, logRefusal } from "./answer.ts";
import { Connections } from "./connections.ts";
import { createRequest, type UpgradeRequest } from "./request.ts";
import { errorResponse, type HttpResponse, rawAnswer } from "./response.ts";
import type { Route } from "./routes.ts";
import { socketBounds } from "./socket-bounds.ts";
import { checkStranger, headersMax } from "./strangers.ts";
import { createOriginWarning } from "./warn-of-origins.ts";

export interface TlsOptions {
  /** PEM texts, not file names. */
  cert: string;
  key: string;
  /** TLS 1.3 unless given. */
  minVersion?: "TLSv1.2" | "TLSv1.3" | undefined;
  /**
   * Authorities whose client certificates count, as PEM. Then clients are asked for one; those without are served all
   * the same, and `certificateNames` of their requests is empty.
   */
  clientCa?: string | undefined;
}

export interface ListenerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  tls?: TlsOptions | undefined;
  /** Allows plain HTTP on other addresses than loopback: for a proxy that does the TLS. */
  insecure?: boolean | undefined;
  /** Further names served, `name` or `name:port`. */
  hosts?: readonly string[] | undefined;
  /** Pages elsewhere that may talk to us, and our own address where a proxy does the TLS, as `https://name[:port]`. */
  origins?: readonly string[] | undefined;
  /** Files and sockets this process may have open; as the system says unless given. */
  openFilesMax?: number | undefined;
  limits: Pick<
    Limits,
    | "bodyBytesMax"
    | "handshakeMs"
    | "connectionsMax"
    | "strangerSocketsMax"
    | "socketsPerPrincipalMax"
    | "queueBytesMax"
    | "queueStallMs"
    | "mcpDepthMax"
    | "valuesMax"
    | "heldBytesMax"
    | "heldBytesPerPrincipalMax"
  >;
  log: Logger;
  metrics?: Metrics | undefined;
  /** Shared by all that works for strangers in this process; the listener's own unless given. */
  turns?: Turns | undefined;
  /** Counts the memory of what has not come whole, bodies and messages; the listener's own unless given. */
  ledger?: ByteLedger | undefined;
}

/** Takes over the socket, or throws before writing to it: then the stranger gets an HTTP error. */
export type UpgradeHandler = (
  request: UpgradeRequest,
  socket: Duplex,
  head: Buffer,
  share: Share,
) => Promise<void> | void;

export interface ListenerAddress {
  host: string;
  port: number;
  url: string;
}

export interface Listener {
  /** With all it shall answer, beside upgrades. */
  start(routes: readonly Route[]): Promise<ListenerAddress>;
  /** Throws before `start` has resolved. */
  address(): ListenerAddress;
  /** WebSocket upgrades at exactly this path. */
  onUpgrade(path: string, handler: UpgradeHandler): void;
  /** Accepts nothing more, lets what is under way finish for `graceMs`, then ends every connection. */
  close(options: { graceMs: number }): Promise<void>;
}

/** More than there may be: the one that is too many is accepted, so that another can be closed for it. */
const acceptedBeyond = 64;
/** What a handshake has cost before it was known whose it is. */
const handshakeMs = 0.1;
const noBytes = Buffer.alloc(0);

export function createListener(options: ListenerOptions): Listener {
  const { host, port, tls, limits, log, metrics } = options;
  if (tls === undefined && options.insecure !== true && !isLoopbackHost(host)) {
    throw new Error(
      `listen.host ${host} is reachable by others: set listen.tls, or listen.insecure behind a proxy; \`mcpx cert ca\` and \`mcpx cert server NAME\` make one, see docs/CONFIG.md`,
    );
  }
  const rules = {
    host,
    isTls: tls !== undefined,
    hosts: options.hosts ?? [],
    origins: options.origins ?? [],
    originRefused: createOriginWarning(log),
  };
  const upgrades = new Map<string, UpgradeHandler>();
  const turns = options.turns ?? createTurns();
  const bounds = socketBounds(limits, options.openFilesMax);
  const connections = new Connections(turns, bounds, options.ledger ?? createByteLedger(limits));
  let isClosing = false;
  const server = createHttpServer(limits, bounds.max + acceptedBeyond, tls);
  // All there are, also those that have not shaken hands and those that were upgraded: Node's own list has neither.
  server.on("connection", (socket: Socket) => connections.add(socket));

  async function upgrade(raw: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Without a listener a peer's reset would end the process.
    socket.on("error", () => socket.destroy());
    const bytesBefore = raw.socket.bytesWritten;
    let path: string | undefined;
    try {
      const turn = connections.turn(raw, handshakeMs);
      if (turn !== undefined) await turn;
      // It may have left while it waited: nothing that is to be undone at its end would be.
      if (socket.destroyed) return;
      checkStranger(raw, rules);
      if (isClosing) throw new McpxError("draining");
      const body = { bytesMax: limits.bodyBytesMax };
      const request = createRequest(raw, { params: {}, body, rules, connections });
      const handler = upgrades.get(request.path);
      if (handler === undefined) throw new McpxError("not_found");
      path = request.path;
      const version = raw.headers["sec-websocket-version"];
      if (version !== "13")
        throw new McpxError("websocket_version", version?.slice(0, 20) ?? "the request names no version");
      const share = paceInput(socket, head, { turns, ...connections.upgraded(raw.socket) });
      await handler(request, socket, noBytes, share);
    } catch (error) {
      logRefusal(log, error, path);
      // An HTTP answer inside a WebSocket stream would only be noise.
      if (raw.socket.bytesWritten === bytesBefore) refuse(socket, errorResponse(error));
      else socket.destroy();
    }
  }

  server.on("upgrade", upgrade);
  // Until then an error is the answer of `start`.
  server.once("listening", () => watchFaults(server, log, metrics));

  return {
    start(routes) {
      const isUpgradePath = (path: string) => upgrades.has(path);
      const parts = { rules, limits, log, metrics, connections, isUpgradePath, isClosing: () => isClosing };
      server.on("request", createAnswer({ ...parts, routes }));
      return listen(server, host, port, rules.isTls);
    },
    address: () => addressOf(server, host, rules.isTls),
    onUpgrade: (path, handler) => upgrades.set(path, handler),
    async close({ graceMs }) {
      isClosing = true;
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const timer = setTimeout(() => {
        connections.destroyAll();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function watchFaults(server: Server, log: Logger, metrics: Metrics | undefined): void {
  const dropped = metrics?.counter(
    "http_connections_dropped_total",
    "Connections refused because the limit was reached",
  );
  const unreadable = metrics?.counter("http_requests_unreadable_total", "Requests not in HTTP, or too slow");
  // Out of file descriptors, for example: it must not end the process.
  server.on("error", (error) => log.error({ err: error }, "HTTP listener failed"));
  server.on("drop", () => dropped?.inc());
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    unreadable?.inc();
    log.debug({ reason: error.code }, "could not read a request");
    refuse(socket, unreadableResponse(error.code));
  });
}

function createHttpServer(
  limits: ListenerOptions["limits"],
  connectionsMax: number,
  tls: TlsOptions | undefined,
): Server {
  const settings: ServerOptions = {
    headersTimeout: limits.handshakeMs,
    requestTimeout: limits.handshakeMs * 3,
    connectionsCheckingInterval: Math.min(1_000, limits.handshakeMs),
    maxHeaderSize: 16_384,
    insecureHTTPParser: false,
    // Our own check says it in our own words, for HTTP/1.0 too.
    requireHostHeader: false,
    // Anything else (h2c) is an ordinary request: the header may be ignored.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  };
  // Where the handshake fails no answer can be sent, nor waited for.
  const server =
    tls === undefined
      ? createServer(settings)
      : createTlsServer({
          ...settings,
          cert: tls.cert,
          key: tls.key,
          minVersion: tls.minVersion ?? "TLSv1.3",
          handshakeTimeout: limits.handshakeMs,
          ...clientRules(tls.clientCa),
        }).on("tlsClientError", (_error, socket) => socket.destroy());
  server.maxConnections = connectionsMax;
  server.maxHeadersCount = headersMax + 1;
  return server;
}

/**
 * A peer whose certificate is not valid may still have a token: its names are left out, the connection is not refused.
 */
function clientRules(clientCa: string | undefined): TlsServerOptions {
  if (clientCa === undefined) return {};
  // Node takes a text without any certificate too, and would then trust nobody without saying so.
  new X509Certificate(clientCa);
  return { ca: clientCa, requestCert: true, rejectUnauthorized: false };
}

function listen(server: Server, host: string, port: number, isTls: boolean): Promise<ListenerAddress> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve(addressOf(server, host, isTls));
    });
  });
}

function addressOf(server: Server, host: string, isTls: boolean): ListenerAddress {
  const address = server.address() as AddressInfo | null;
  if (address === null) throw new Error("the listener has not started");
  const shown = host.includes(":") ? `[${host}]` : host;
  return { host, port: address.port, url: `${isTls ? "https" : "http"}://${shown}:${address.port}` };
}

function unreadableResponse(code: string | undefined): HttpResponse {
  const error = new McpxError("bad_request", "the request is not readable as HTTP/1.1");
  const status = code === "HPE_HEADER_OVERFLOW" ? 431 : code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  return { ...errorResponse(error), status };
}

function refuse(socket: Duplex, response: HttpResponse): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.once("finish", () => socket.destroy());
  socket.end(rawAnswer(response));
}
