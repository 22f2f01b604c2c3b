// A server spoken to over its standard input and output, one JSON-RPC message per line.
import type { Readable } from "node:stream";
import { isObject, type JsonObject, McpxError, parseExact } from "@mcpx/protocol";
import { LineReader } from "./line-reader.ts";
import { defaultLinkLimits, type LinkLimits } from "./link-limits.ts";
import { answerIdIn, tooLarge } from "./lost-answer.ts";
import { type ServerCommand, type ServerProcess, startProcess } from "./start-process.ts";
import type { Wire, WireTaker } from "./wire.ts";

const stderrLineBytesMax = 4_000;
const pauseMs = 20;
const gatheredCharsMax = 65_536;
const sent = Promise.resolve();

/** Rejects with `server_unreachable` where the command cannot be started. */
export async function openStdioWire(
  command: ServerCommand,
  taker: WireTaker,
  limits: Partial<LinkLimits> = {},
  /** Called with what the server writes to, before anybody reads it. */
  pace?: (output: Readable) => void,
): Promise<Wire> {
  const server = await startProcess(command);
  pace?.(server.stdout);
  return new StdioWire(server, taker, { ...defaultLinkLimits, ...limits });
}

/** JSON has no line ends of its own; but Node's `readline`, which many servers use, takes these two for such. */
function lineOf(message: JsonObject): string {
  const text = JSON.stringify(message);
  return /[\u2028\u2029]/.test(text)
    ? text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : text;
}

class StdioWire implements Wire {
  readonly hasStreams = false;
  readonly pid: number;
  readonly ended: Promise<string>;
  readonly #server: ServerProcess;
  readonly #taker: WireTaker;
  readonly #waitingBytesMax: number;
  readonly #flush = () => {
    const text = this.#gathered;
    this.#gathered = "";
    if (text !== "" && !this.#isOver && this.#server.stdin.writable) this.#server.stdin.write(text);
  };
  #gathered = "";
  #isOver = false;

  constructor(server: ServerProcess, taker: WireTaker, limits: LinkLimits) {
    this.#server = server;
    this.pid = server.pid;
    this.#taker = taker;
    this.#waitingBytesMax = limits.waitingBytesMax;
    this.ended = server.ended.then((why) => {
      this.#isOver = true;
      return why;
    });
    const { messageBytesMax } = limits;
    const messages = new LineReader(messageBytesMax, {
      line: (text) => this.#takeLine(text),
      long: () => taker.logLine(`(a message of more than ${messageBytesMax} bytes was dropped)`),
      longOver: (head, tail) => {
        const id = answerIdIn(head, tail);
        if (id !== undefined) taker.unreadable?.(id, tooLarge(messageBytesMax));
      },
    });
    const stderrLines = new LineReader(stderrLineBytesMax, {
      line: (text) => text !== "" && taker.logLine(text),
    });
    server.stdout.on("data", (chunk: Buffer) => messages.push(chunk)).on("end", () => messages.end());
    server.stderr.on("data", (chunk: Buffer) => stderrLines.push(chunk)).on("end", () => stderrLines.end());
    for (const stream of [server.stdout, server.stderr]) stream.on("error", () => {});
  }

  send(message: JsonObject): Promise<void> {
    const { stdin } = this.#server;
    if (this.#isOver || !stdin.writable) {
      return Promise.reject(new McpxError("server_unreachable", "it has ended"));
    }
    if (stdin.writableLength > this.#waitingBytesMax) {
      return Promise.reject(new McpxError("server_unreachable", "it does not read its input"));
    }
    // Whatever is sent within one turn of the event loop goes in one write: each wakes the server up.
    if (this.#gathered === "") setImmediate(this.#flush);
    this.#gathered += `${lineOf(message)}\n`;
    if (this.#gathered.length > gatheredCharsMax) this.#flush();
    return sent;
  }

  pause(): void {
    const { stdout } = this.#server;
    if (this.#isOver || stdout.isPaused()) return;
    stdout.pause();
    setTimeout(() => stdout.resume(), pauseMs);
  }

  close(): Promise<void> {
    this.#flush();
    return this.#server.end();
  }

  /** Some write greetings to their output; they are shown and do no harm. */
  #takeLine(text: string): void {
    if (text === "") return;
    let value: unknown;
    try {
      value = parseExact(text);
    } catch {
      this.#taker.logLine(text.slice(0, stderrLineBytesMax));
      return;
    }
    if (isObject(value)) this.#taker.message(value);
    // COMPAT: MCP 2025-03-26 had batches.
    else if (Array.isArray(value)) {
      for (const message of value) if (isObject(message)) this.#taker.message(message);
    } else this.#taker.logLine(text.slice(0, stderrLineBytesMax));
  }
}
