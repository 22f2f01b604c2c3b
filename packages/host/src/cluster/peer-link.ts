// One connection between two gateways: questions with answers, and messages without, in the order in which they were
// sent. Everything is sealed (`peer-cipher.ts`), and everything is bounded.
import { errorTable, isMcpxError, McpxError } from "@mcpx/protocol";
import type { RawData, WebSocket } from "ws";
import type { PeerCipher } from "./peer-cipher.ts";

/** The first byte of a message; those of its users begin at 16. */
const kinds = { question: 0, answer: 1, alive: 2 } as const;
export const firstOwnKind = 16;

export interface PeerLimits {
  /** Of one message, and so of what is not read yet. */
  messageBytesMax: number;
  /** What waits for a peer that does not read; past it the connection is cut. */
  queueBytesMax: number;
  questionsMax: number;
  /** How long an answer may take. */
  answerMs: number;
  /** How often each side says that it lives, and how long it may be silent. */
  aliveEveryMs: number;
  silentMs: number;
}

export const defaultPeerLimits: PeerLimits = {
  messageBytesMax: 16_777_216,
  queueBytesMax: 67_108_864,
  questionsMax: 10_000,
  answerMs: 10_000,
  aliveEveryMs: 1_000,
  silentMs: 3_000,
};

export interface PeerLink {
  /** The number of the gateway at the other end. */
  readonly peer: number;
  /** Rejects with the error the other side answers with, or with `draining` where the connection is lost. */
  ask(verb: string, body: unknown): Promise<unknown>;
  send(kind: number, message: Buffer): void;
  readonly isOpen: boolean;
  /** Resolves once it is over. */
  readonly ended: Promise<void>;
  cut(why: string): void;
}

/** What a gateway does with what its peers say. */
export interface PeerHandler {
  answer(link: PeerLink, verb: string, body: unknown): Promise<unknown>;
  /** A message of a kind from 16 on. Throws where it is none; then the connection is cut. */
  take(link: PeerLink, kind: number, message: Buffer): void;
}

interface Question {
  resolve(body: unknown): void;
  reject(error: unknown): void;
  timer: NodeJS.Timeout;
}

export interface PeerLinkParts {
  peer: number;
  socket: WebSocket;
  cipher: PeerCipher;
  handler: PeerHandler;
  limits: PeerLimits;
  /** Told why it ended. */
  onCut(why: string): void;
}

export function createPeerLink(parts: PeerLinkParts): PeerLink {
  const { peer, socket, cipher, handler, limits } = parts;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const questions = new Map<number, Question>();
  let asked = 0;
  let isOpen = true;
  let heardAt = performance.now();

  function cut(why: string): void {
    if (!isOpen) return;
    isOpen = false;
    clearInterval(timer);
    socket.terminate();
    for (const { reject, timer: late } of questions.values()) {
      clearTimeout(late);
      reject(new McpxError("draining", "the gateway that serves this was lost", { retryAfterMs: 100 }));
    }
    questions.clear();
    parts.onCut(why);
    end();
  }

  function send(kind: number, message: Buffer): void {
    if (!isOpen) return;
    if (socket.bufferedAmount > limits.queueBytesMax) cut("it does not read its input");
    else socket.send(cipher.seal(Buffer.concat([Buffer.of(kind), message])));
  }

  const sendJson = (kind: number, value: object) => send(kind, Buffer.from(JSON.stringify(value)));

  function take(data: RawData): void {
    heardAt = performance.now();
    const message = cipher.open(data as Buffer);
    const kind = message[0] ?? Number.NaN;
    const body = message.subarray(1);
    if (kind >= firstOwnKind) handler.take(link, kind, body);
    else if (kind === kinds.question) void answer(body);
    else if (kind === kinds.answer) settle(body);
    else if (kind !== kinds.alive) throw new Error(`a message of the unknown kind ${kind}`);
  }

  async function answer(text: Buffer): Promise<void> {
    const { id, verb, body } = JSON.parse(text.toString()) as { id: number; verb: string; body: unknown };
    try {
      sendJson(kinds.answer, { id, body: (await handler.answer(link, verb, body)) ?? null });
    } catch (error) {
      sendJson(kinds.answer, { id, error: errorOf(error) });
    }
  }

  function settle(text: Buffer): void {
    const { id, body, error } = JSON.parse(text.toString()) as {
      id: number;
      body?: unknown;
      error?: WireError;
    };
    const question = questions.get(id);
    // The question may have timed out.
    if (question === undefined) return;
    questions.delete(id);
    clearTimeout(question.timer);
    if (error === undefined) question.resolve(body);
    else question.reject(errorFrom(error));
  }

  const link: PeerLink = {
    peer,
    send,
    ended,
    cut,
    get isOpen() {
      return isOpen;
    },
    ask: (verb, body) =>
      new Promise((resolve, reject) => {
        if (!isOpen || questions.size >= limits.questionsMax) {
          const why = isOpen
            ? "too many questions to a gateway are open"
            : "the gateway that serves this is gone";
          return reject(new McpxError("draining", why, { retryAfterMs: 100 }));
        }
        asked += 1;
        const id = asked;
        const timer = setTimeout(() => {
          questions.delete(id);
          reject(new McpxError("timeout", "the gateway that serves this did not answer"));
        }, limits.answerMs);
        questions.set(id, { resolve, reject, timer });
        sendJson(kinds.question, { id, verb, body });
      }),
  };

  const timer = setInterval(() => {
    if (performance.now() - heardAt > limits.silentMs) cut("it was silent");
    else send(kinds.alive, Buffer.alloc(0));
  }, limits.aliveEveryMs).unref();
  socket.on("message", (data) => {
    if (!isOpen) return;
    try {
      take(data);
    } catch (error) {
      cut(error instanceof Error ? error.message : String(error));
    }
  });
  socket.on("error", ({ message }) => cut(message));
  socket.on("close", () => cut("the connection has ended"));
  return link;
}

interface WireError {
  code: string;
  detail?: string;
  retryAfterMs?: number;
}

/** What strangers may be told, and nothing more: it may well be answered to one. */
function errorOf(error: unknown): WireError {
  if (!isMcpxError(error)) return { code: "internal" };
  const { code, detail, retryAfterMs } = error;
  return { code, detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function errorFrom({ code, detail, retryAfterMs }: WireError): McpxError {
  // A later version may know more words.
  if (!Object.hasOwn(errorTable, code)) return new McpxError("internal", detail);
  const known = code as McpxError["code"];
  return new McpxError(known, detail, retryAfterMs === undefined ? {} : { retryAfterMs });
}
