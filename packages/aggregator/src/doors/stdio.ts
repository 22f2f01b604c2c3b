// The tree's door on standard input and output: one client, one line for each message, both eras as they come.
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { Clock, Logger, Principal } from "@mcpx/host";
import { isMcpxError, type JsonObject, type Limits, McpxError } from "@mcpx/protocol";
import type { Caller } from "../exchange.ts";
import type { Dialect } from "../names/dialects.ts";
import type { Profile } from "../profile.ts";
import { faultOf, RpcError, rpcCodes, rpcError } from "../rpc-error.ts";
import type { Tree } from "../tree.ts";
import { createAccounts } from "./accounts.ts";
import { readBatch, sharedReply } from "./batch.ts";
import { dialectFor } from "./dialect-for.ts";
import { checkRevision, readEnvelope } from "./envelope.ts";
import { eraOf } from "./era-of.ts";
import { readHello } from "./hello.ts";
import { createLegacySession, type LegacySession } from "./legacy-session.ts";
import { createLineReader } from "./lines.ts";
import {
  errorMessage,
  idOf,
  isId,
  keyOf,
  type Message,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  readMessage,
  resultMessage,
} from "./message.ts";
import { createModern } from "./modern.ts";
import { parse } from "./parse.ts";
import type { Reply } from "./reply.ts";

export interface StdioDoorOptions {
  input: Readable;
  output: Writable;
  log: Logger;
  clock: Clock;
  limits: Limits;
  /** As `?names=` over HTTP. */
  names?: Dialect | undefined;
  profile?: Profile | undefined;
}

export interface StdioDoor {
  /** Resolves when the client has left and all that was under way is over. */
  readonly closed: Promise<void>;
  /** Ends it from our side. */
  close(): void;
}

interface LineReply extends Reply {
  cut(): void;
}

/** How many times `queueBytesMax` may wait for a client before it misses what is no answer. */
const burstFactor = 16;

export function serveStdio(tree: Tree, principal: Principal, options: StdioDoorOptions): StdioDoor {
  const { input, output, log, clock, limits, names = null, profile } = options;
  const accounts = createAccounts();
  const modern = createModern({ tree, accounts, clock, log, limits });
  const key = `stdio:${randomUUID()}`;
  const underWay = new Map<string, LineReply>();
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>();
  let session: LegacySession | undefined;
  let isEnding = false;
  let isClosed = false;

  function write(message: JsonObject | JsonObject[]): void {
    if (isClosed || !output.writable) return;
    // A client that does not read is not read from either.
    if (!output.write(`${JSON.stringify(message)}\n`)) input.pause();
  }

  function writeAside(message: JsonObject): void {
    if (output.writableLength <= burstFactor * limits.queueBytesMax) write(message);
  }

  function refuse(id: RequestId | null, error: unknown): void {
    if (!isMcpxError(error) && !(error instanceof RpcError)) log.error({ err: error }, "a message failed");
    write(errorMessage(id, faultOf(error)));
  }

  function replyTo(ids: readonly RequestId[]): LineReply {
    const keys = ids.map(keyOf);
    if (new Set(keys).size < keys.length || keys.some((key) => underWay.has(key))) {
      throw rpcError(rpcCodes.invalidRequest, "Invalid Request: this id is in use");
    }
    const cuts: (() => void)[] = [];
    let isOver = false;
    const finish = () => {
      if (isOver) return false;
      isOver = true;
      for (const key of keys) underWay.delete(key);
      if (isEnding && underWay.size === 0) close();
      return true;
    };
    const reply: LineReply = {
      before(message) {
        if (!isOver) writeAside(message);
      },
      answer(message) {
        if (isOver) return;
        write(message);
        finish();
      },
      drop: finish,
      onCut: (callback) => void cuts.push(callback),
      cut() {
        if (finish()) for (const callback of cuts) callback();
      },
    };
    for (const key of keys) underWay.set(key, reply);
    return reply;
  }

  function callModern(message: RpcRequest): void {
    const { revision, capabilities, info, logLevel } = readEnvelope(message.params);
    checkRevision(revision);
    const dialect = dialectFor({ names, profile, info });
    const caller: Caller = { principal, key, era: "modern", capabilities, info, dialect, profile, logLevel };
    modern.serve({ message, caller, paramHeaders: {}, reply: replyTo([message.id]) });
  }

  async function initialize({ id, params }: RpcRequest): Promise<void> {
    const hello = readHello(params);
    const opened = createLegacySession({
      tree,
      log,
      limits,
      account: accounts.of(principal),
      principal: () => principal,
      key,
      dialect: dialectFor({ names, profile, info: hello.info }),
      profile,
      hello,
      aside: { isOpen: true, send: writeAside },
    });
    const reply = replyTo([id]);
    session = opened;
    try {
      reply.answer(resultMessage(id, await opened.greet()));
    } catch (error) {
      session = undefined;
      opened.close();
      reply.answer(errorMessage(id, faultOf(error)));
    }
  }

  function callLegacy(message: RpcRequest): void {
    if (session !== undefined) session.request(message, replyTo([message.id]));
    else if (message.method === "ping") write(resultMessage(message.id, {}));
    else throw rpcError(rpcCodes.invalidRequest, "Invalid Request: initialize first");
  }

  function takeNotification(message: RpcNotification): void {
    const { requestId } = message.params;
    const isCancel = message.method === "notifications/cancelled" && isId(requestId);
    // Whichever era it is of: there is one channel, and one kind of cancellation.
    if (isCancel) underWay.get(keyOf(requestId))?.cut();
    else session?.notification(message);
  }

  async function take(message: Message): Promise<void> {
    if (message.kind === "response") session?.response(message);
    else if (message.kind === "notification") takeNotification(message);
    else if (eraOf(message, undefined) === "modern") callModern(message);
    else if (message.method === "initialize" && session === undefined) await initialize(message);
    else callLegacy(message);
  }

  function takeBatch(values: readonly unknown[]): void {
    const messages = readBatch(session?.revision, values);
    const requests = messages.filter((message) => message.kind === "request");
    const reply = replyTo(requests.map(({ id }) => id));
    for (const message of messages) {
      if (message.kind === "response") session?.response(message);
      else if (message.kind === "notification") takeNotification(message);
    }
    const parts = sharedReply(reply, requests.length);
    for (const message of requests) session?.request(message, parts);
  }

  function takeLine(text: string): void {
    let id: RequestId | null = null;
    try {
      const value = parse(text, limits.mcpDepthMax);
      id = idOf(value);
      if (Array.isArray(value)) takeBatch(value);
      else take(readMessage(value)).catch((error) => refuse(id, error));
    } catch (error) {
      refuse(id, error);
    }
  }

  function close(): void {
    if (isClosed) return;
    modern.drain();
    for (const reply of underWay.values()) reply.cut();
    session?.close();
    isClosed = true;
    clearInterval(timer);
    input.off("data", read);
    input.pause();
    resolveClosed();
  }

  /** The client says nothing more, but may still read: what it asked before is answered. */
  function end(): void {
    if (isEnding) return;
    isEnding = true;
    modern.drain();
    if (underWay.size === 0) close();
    else setTimeout(close, limits.drainMs).unref();
  }

  const read = createLineReader(limits.mcpBodyBytesMax, {
    line: takeLine,
    tooLong: () =>
      refuse(null, new McpxError("too_large", `a line may have ${limits.mcpBodyBytesMax} bytes`)),
    unreadable: () => refuse(null, new McpxError("bad_utf8")),
  });
  const timer = setInterval(() => modern.sweep(), 1_000).unref();
  input.on("data", read);
  input.once("end", end);
  input.once("close", end);
  input.once("error", end);
  output.on("drain", () => input.resume());
  output.once("error", close);
  output.once("close", close);
  return { closed, close };
}
