// The connections of a gateway to the others of its cluster: dialled when one is needed, accepted from who proves to know
// the cluster's secret and means this gateway.
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { McpxError } from "@mcpx/protocol";
import { WebSocket, WebSocketServer } from "ws";
import type { UpgradeHandler } from "../http/listener.ts";
import type { Logger } from "../logging/log.ts";
import { createPeerCipher, type Hellos, isProof, proofOf } from "./peer-cipher.ts";
import {
  createPeerLink,
  defaultPeerLimits,
  type PeerHandler,
  type PeerLimits,
  type PeerLink,
} from "./peer-link.ts";

export const peerPath = "/v0/peer";

/** Both sides speak one version of what stands in `peer-link.ts` and of what its users say. */
const peerVersion = 1;
const dialMs = 2_000;
const helloHeader = "mcpx-peer";
const proofHeader = "mcpx-peer-proof";

export interface Peers {
  /** A connection to a gateway, made where there is none. Rejects where it cannot be reached. */
  to(gateway: { number: number; address: string }): Promise<PeerLink>;
  /** From now on others are answered. */
  serve(handler: PeerHandler): void;
  /** The handler of `GET /v0/peer`. */
  accept: UpgradeHandler;
  close(): void;
}

export interface PeersParts {
  /** The number of this gateway, as long as it has one. */
  number(): number | undefined;
  /** At least 32 random bytes that every gateway of the cluster has, and nobody else. */
  secret: Uint8Array;
  log: Logger;
  limits?: Partial<PeerLimits> | undefined;
}

/** It is certain that the gateway lives no more: its machine answers, and it does not. */
class PeerGone extends Error {
  override name = "PeerGone";
}

interface Hello {
  version: number;
  from: number;
  to: number;
  nonce: string;
}

export function createPeers({ number, secret, log, limits: given }: PeersParts): Peers {
  const limits = { ...defaultPeerLimits, ...given };
  const dialled = new Map<number, Promise<PeerLink>>();
  const links = new Set<PeerLink>();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.messageBytesMax,
  });
  let isClosed = false;
  let handler: PeerHandler | undefined;

  const helloText = (to: number) =>
    JSON.stringify({ version: peerVersion, from: own(), to, nonce: randomBytes(18).toString("base64url") });

  function own(): number {
    const known = number();
    if (known === undefined || handler === undefined || isClosed)
      throw new McpxError("draining", "this gateway is not in the cluster");
    return known;
  }

  function open(peer: number, socket: WebSocket, hellos: Hellos, side: keyof Hellos): PeerLink {
    if (handler === undefined)
      throw new Error("a connection to a gateway was opened before anything was served");
    const link = createPeerLink({
      peer,
      socket,
      handler,
      limits,
      cipher: createPeerCipher(secret, hellos, side),
      onCut: (why) => {
        links.delete(link);
        log.info({ peer, reason: why }, "connection to a gateway ended");
      },
    });
    links.add(link);
    log.info({ peer }, "connected to a gateway");
    return link;
  }

  async function dial(peer: number, address: string): Promise<PeerLink> {
    const dialler = helloText(peer);
    const socket = new WebSocket(new URL(peerPath, address.replace(/^http/, "ws")), {
      headers: { [helloHeader]: encode(dialler), [proofHeader]: proofOf(secret, dialler) },
      perMessageDeflate: false,
      maxPayload: limits.messageBytesMax,
      handshakeTimeout: dialMs,
      followRedirects: false,
    });
    const listener = await new Promise<string>((resolve, reject) => {
      let text = "";
      let proof: string | undefined;
      // Both events come in one turn: the answer's headers, and that frames may follow.
      socket.once("upgrade", ({ headers }: IncomingMessage) => {
        text = decode(headers[helloHeader]);
        proof = only(headers[proofHeader]);
      });
      socket.once("open", () => {
        if (isProof(proof, secret, dialler, text)) return resolve(text);
        reject(new Error("the other side does not know the secret of the cluster"));
        socket.terminate();
      });
      socket.once("unexpected-response", (_request, { statusCode }: IncomingMessage) => {
        reject(
          statusCode === 404 ? new PeerGone("another gateway is there") : new Error(`HTTP ${statusCode}`),
        );
        socket.terminate();
      });
      // Also of what comes after that: nobody listens any more.
      socket.on("error", (error: NodeJS.ErrnoException) => {
        reject(error.code === "ECONNREFUSED" ? new PeerGone("nothing listens at its address") : error);
      });
    });
    return open(peer, socket, { dialler, listener }, "dialler");
  }

  async function to({ number: peer, address }: { number: number; address: string }): Promise<PeerLink> {
    const known = dialled.get(peer);
    if (known !== undefined) return known;
    const dialling = dial(peer, address);
    dialled.set(peer, dialling);
    try {
      const link = await dialling;
      void link.ended.then(() => dialled.delete(peer));
      return link;
    } catch (cause) {
      dialled.delete(peer);
      log.warn({ err: cause, peer, address }, "could not connect to a gateway");
      throw new McpxError("draining", "the gateway that serves this cannot be reached", {
        retryAfterMs: 500,
        cause,
      });
    }
  }

  const accept: UpgradeHandler = (request, socket, head, share) => {
    const dialler = decode(request.headers[helloHeader]);
    // Before anything of it is read: a stranger learns only that it is one.
    if (!isProof(only(request.headers[proofHeader]), secret, dialler)) throw new McpxError("not_found");
    const hello = JSON.parse(dialler) as Hello;
    if (hello.version !== peerVersion) {
      throw new McpxError("bad_request", `peers of version ${peerVersion} only, not ${hello.version}`);
    }
    // Its address is this gateway's now, and was that of another.
    if (hello.to !== own()) throw new McpxError("not_found", "this is another gateway");
    request.belongsTo({ issuer: "peer", id: String(hello.from), jti: "" });
    const listener = JSON.stringify({ nonce: randomBytes(18).toString("base64url") });
    const answer = [
      `${helloHeader}: ${encode(listener)}`,
      `${proofHeader}: ${proofOf(secret, dialler, listener)}`,
    ];
    const tell = (headers: string[]) => void headers.push(...answer);
    server.once("headers", tell);
    server.handleUpgrade(request.raw, socket, head, (opened) => {
      const link = open(hello.from, opened, { dialler, listener }, "listener");
      share.onRefused(() => link.cut("it sends more at once than a gateway may"));
    });
    // A handshake that the library refuses has no such headers, and the next one has its own.
    server.off("headers", tell);
  };

  return {
    to,
    serve(given) {
      handler = given;
    },
    accept,
    close() {
      isClosed = true;
      for (const link of links) link.cut("this gateway ends");
    },
  };
}

const encode = (text: string) => Buffer.from(text).toString("base64url");

const only = (header: string | string[] | undefined) => (typeof header === "string" ? header : undefined);

function decode(header: string | string[] | undefined): string {
  return Buffer.from(only(header) ?? "", "base64url").toString();
}
