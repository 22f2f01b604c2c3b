// Opens a conversation with a server, whatever its transport and era. The era is found out as the specification of
// 2026 says: a modern question first; what is no answer of a modern server means that it is a legacy one.
import type { Readable } from "node:stream";
import { paceInput, type Turns } from "@mcpx/host";
import { isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import { type Era, legacyRevisions, modernRevision } from "../mcp/era.ts";
import { RpcError, rpcCodes } from "../mcp/rpc-error.ts";
import { Conversation } from "./conversation.ts";
import type { HttpAddress } from "./http-caller.ts";
import { HttpRefusal } from "./http-refusal.ts";
import type { Link, LinkTaker } from "./link.ts";
import { LegacyLink } from "./link-legacy.ts";
import { defaultLinkLimits, type LinkLimits } from "./link-limits.ts";
import { ModernLink } from "./link-modern.ts";
import type { ServerCommand } from "./start-process.ts";
import type { Wire, WireTaker } from "./wire.ts";
import { openHttpWire } from "./wire-http.ts";
import { openSseWire } from "./wire-sse.ts";
import { openStdioWire } from "./wire-stdio.ts";

export type Transport =
  | ({ type: "stdio" } & ServerCommand)
  /** `auto-http` takes the SSE transport of 2024 where streamable HTTP is not spoken. */
  | ({ type: "http" | "sse" | "auto-http" } & HttpAddress)
  /** A connection that is open already, and cannot be opened again. */
  | { type: "channel"; connect(taker: WireTaker): Wire };

export interface OpenOptions {
  /** What errors call the server. */
  name: string;
  transport: Transport;
  clientInfo: JsonObject;
  /** Capabilities of the caller that the link is for. */
  capabilities: JsonObject;
  /** As it was the last time; found out again where that fails. */
  era?: Era | undefined;
  /** It is not: no other will do. */
  isEraFixed?: boolean | undefined;
  /** For all of it. */
  timeoutMs?: number | undefined;
  limits?: Partial<LinkLimits> | undefined;
  /** Gives the opening up. */
  signal?: AbortSignal | undefined;
  /** The turns in which messages of the server are read; without them they are read as they come. */
  turns?: Turns | undefined;
}

const timeoutMsDefault = 30_000;
/** Answers are longer than frames, and an operator chose who gives them. */
const outputPieceBytes = 8_192;
/** A child that says nothing to the modern question is a legacy one. */
const silenceMs = 2_000;

/** Rejects with `server_unreachable` or `bad_server_answer`, named; nothing is left of it then. */
export async function openLink(options: OpenOptions, taker: LinkTaker): Promise<Link> {
  const opening = new Opening(options, taker);
  const { timeoutMs = timeoutMsDefault } = options;
  const stop = new AbortController();
  const late = () => stop.abort(opening.error(`it did not answer within ${timeoutMs / 1_000} s`));
  const timer = setTimeout(late, timeoutMs);
  const give = () => stop.abort(options.signal?.reason);
  options.signal?.addEventListener("abort", give, { once: true });
  if (options.signal?.aborted) give();
  try {
    return await opening.open(stop.signal);
  } catch (error) {
    throw opening.fault(stop.signal.aborted ? stop.signal.reason : error);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", give);
  }
}

/** A wire with its conversation, whichever link comes to use them. */
interface Line {
  conversation: Conversation;
  wire: Wire;
}

class Opening {
  readonly #options: OpenOptions;
  readonly #taker: LinkTaker;
  readonly #limits: LinkLimits;

  /** A server's work is its own account's: callers have theirs when they are answered. */
  readonly #pace = (output: Readable): void => {
    const { name, turns } = this.#options;
    if (turns === undefined) return;
    const account = turns.account(`server ${name}`);
    paceInput(output, Buffer.alloc(0), { turns, account: () => account, pieceBytes: outputPieceBytes });
  };

  constructor(options: OpenOptions, taker: LinkTaker) {
    this.#options = options;
    this.#taker = taker;
    this.#limits = { ...defaultLinkLimits, ...options.limits };
  }

  async open(signal: AbortSignal): Promise<Link> {
    const { era, isEraFixed = false, transport } = this.#options;
    const isLegacyOnly = isEraFixed && era === "legacy";
    if (era === undefined || transport.type === "sse" || isLegacyOnly) return this.#detect(signal);
    try {
      return await this.#openAs(era, signal);
    } catch (error) {
      if (isEraFixed || signal.aborted || !isAboutEra(error)) throw error;
      return this.#detect(signal);
    }
  }

  error(detail: string): McpxError {
    return new McpxError("server_unreachable", `${this.#options.name}: ${detail}`);
  }

  /** Errors that name the server. */
  fault(error: unknown): unknown {
    const { name } = this.#options;
    if (error instanceof RpcError) {
      const { code, message } = error.fault;
      const detail = `${name}: it refused to be opened: ${message.slice(0, 400)} (${code})`;
      return new McpxError("bad_server_answer", detail, { cause: error });
    }
    if (error instanceof HttpRefusal) {
      return new McpxError("server_unreachable", `${name}: ${error.message}`, { cause: error });
    }
    if (!isMcpxError(error) || error.detail.startsWith(`${name}: `)) return error;
    const { code, detail, suggestion, cause } = error;
    return new McpxError(code, `${name}: ${detail}`, { suggestion, cause });
  }

  async #openAs(era: Era, signal: AbortSignal): Promise<Link> {
    const line = await this.#connect(signal);
    try {
      if (era === "legacy") return await this.#initialize(line, signal);
      const link = await this.#tryModern(line, signal);
      if (link !== undefined) return link;
      throw new RpcError({
        code: rpcCodes.methodNotFound,
        message: `it does not speak MCP ${modernRevision}`,
      });
    } catch (error) {
      await line.conversation.close();
      throw error;
    }
  }

  async #detect(signal: AbortSignal): Promise<Link> {
    const { transport, era, isEraFixed = false } = this.#options;
    let line = await this.#connect(signal);
    try {
      // The SSE transport is older than the modern era.
      if (transport.type === "sse" || (isEraFixed && era === "legacy"))
        return await this.#initialize(line, signal);
      const modern = await this.#tryModern(line, signal);
      if (modern !== undefined) return modern;
      if (line.conversation.isOver) {
        // Some end themselves when they are asked before they are initialized.
        await line.conversation.close();
        line = await this.#connect(signal);
      }
      return await this.#initializeOrWasSlow(line, signal);
    } catch (error) {
      await line.conversation.close();
      const isOldTransport = transport.type === "auto-http" && !signal.aborted && isNoStreamableHttp(error);
      if (isOldTransport) return this.#openSse(error, signal);
      throw error;
    }
  }

  /** COMPAT: an address may be one of the transport of 2024. If it is not, what was wrong before counts. */
  async #openSse(before: unknown, signal: AbortSignal): Promise<Link> {
    const { transport } = this.#options;
    if (transport.type === "stdio" || transport.type === "channel") throw before;
    let line: Line;
    try {
      line = await this.#connect(signal, "sse");
    } catch {
      throw before;
    }
    try {
      return await this.#initialize(line, signal);
    } catch (error) {
      await line.conversation.close();
      throw error;
    }
  }

  async #connect(signal: AbortSignal, type = this.#options.transport.type): Promise<Line> {
    const { name, transport } = this.#options;
    const conversation = new Conversation(name, this.#taker, this.#limits);
    signal.throwIfAborted();
    const wire = await this.#openWire(transport, type, conversation, signal);
    conversation.wire = wire;
    if (signal.aborted) await conversation.close();
    signal.throwIfAborted();
    return { conversation, wire };
  }

  async #openWire(
    transport: Transport,
    type: Transport["type"],
    taker: WireTaker,
    signal: AbortSignal,
  ): Promise<Wire> {
    if (transport.type === "channel") return transport.connect(taker);
    if (transport.type === "stdio") {
      return openStdioWire(transport, taker, this.#limits, this.#pace);
    }
    const address = { ...transport, pace: this.#pace };
    if (type === "sse") return openSseWire(address, taker, signal, this.#limits);
    return openHttpWire(address, taker, this.#limits);
  }

  async #initialize({ conversation, wire }: Line, signal: AbortSignal): Promise<Link> {
    const { clientInfo, capabilities } = this.#options;
    const { questionsMax } = this.#limits;
    const link = new LegacyLink(conversation, wire, this.#taker, { clientInfo, capabilities, questionsMax });
    await link.initialize(signal);
    return link;
  }

  /** A modern server that was only slow to start refuses to be initialized, and is asked once more. */
  async #initializeOrWasSlow(line: Line, signal: AbortSignal): Promise<Link> {
    try {
      return await this.#initialize(line, signal);
    } catch (error) {
      const isThere = error instanceof RpcError && !line.wire.hasStreams && !signal.aborted;
      const modern = isThere ? await this.#tryModern(line, signal) : undefined;
      if (modern === undefined) throw error;
      return modern;
    }
  }

  async #discover({ conversation, wire }: Line, signal: AbortSignal): Promise<Link | undefined> {
    const { clientInfo, capabilities } = this.#options;
    const link = new ModernLink(conversation, wire, this.#taker, { clientInfo, capabilities });
    const facts = await link.discover(signal);
    if (facts === undefined) return undefined;
    await link.listen();
    return link;
  }

  /** `undefined`: it is a legacy server, as far as can be seen. */
  async #tryModern(line: Line, signal: AbortSignal): Promise<Link | undefined> {
    const { timeoutMs = timeoutMsDefault, isEraFixed = false } = this.#options;
    const restMs = line.wire.hasStreams ? timeoutMs / 2 : Math.min(silenceMs, timeoutMs / 2);
    // Where nothing else will be tried, nothing is kept back for it.
    const probeMs = isEraFixed ? timeoutMs : restMs;
    const probe = new AbortController();
    const timer = setTimeout(() => probe.abort(), probeMs);
    const stop = () => probe.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await this.#discover(line, probe.signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (probe.signal.aborted || !isModernFault(error, line.wire.hasStreams)) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }
}

/** Whether what came instead of an answer to the modern question is final: initializing would not help. */
function isModernFault(error: unknown, isHttp: boolean): boolean {
  if (error instanceof RpcError) {
    const { code, data } = error.fault;
    if (code === rpcCodes.headerMismatch || code === rpcCodes.missingClientCapability) return true;
    if (code !== rpcCodes.unsupportedVersion) return false;
    // It may know both eras, and this one only in revisions that we do not speak.
    const supported = (data as { supported?: unknown } | undefined)?.supported;
    return Array.isArray(supported) && !legacyRevisions.some((revision) => supported.includes(revision));
  }
  const refusal = refusalOf(error);
  // Over HTTP an answer that cannot be read is one all the same; no answer says nothing.
  if (refusal === undefined) return isHttp && !(isMcpxError(error) && error.code === "bad_server_answer");
  // These say nothing of eras. An internal error may be all a legacy server has to say to an unknown question.
  return refusal.isForbidden || (refusal.status > 501 && refusal.status < 600);
}

/** Whether a remembered era may be the reason. */
function isAboutEra(error: unknown): boolean {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return !refusal.isForbidden && refusal.status < 502;
  if (!isMcpxError(error)) return error instanceof RpcError;
  return error.code === "bad_server_answer" || error.code === "server_lost";
}

function isNoStreamableHttp(error: unknown): boolean {
  const status = refusalOf(error)?.status;
  if (status !== undefined) return status >= 400 && status < 500 && status !== 401 && status !== 403;
  // A refusal with a JSON-RPC error, that is not of the modern era.
  return error instanceof RpcError && !isModernFault(error, true);
}

function refusalOf(error: unknown): HttpRefusal | undefined {
  if (error instanceof HttpRefusal) return error;
  return error instanceof Error && error.cause instanceof HttpRefusal ? error.cause : undefined;
}
