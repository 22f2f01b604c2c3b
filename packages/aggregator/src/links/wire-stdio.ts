// A server spoken to over its standard input and output, one JSON-RPC message per line.
import { isObject, type JsonObject, McpxError, parseExact } from "@mcpx/protocol";
import { LineReader } from "./line-reader.ts";
import { defaultLinkLimits, type LinkLimits } from "./link-limits.ts";
import { type ServerCommand, type ServerProcess, startProcess } from "./start-process.ts";
import type { Wire, WireTaker } from "./wire.ts";

const remarkBytesMax = 4_000;
const sent = Promise.resolve();

/** Rejects with `server_unreachable` where the command cannot be started. */
export async function openStdioWire(
  command: ServerCommand,
  taker: WireTaker,
  limits: Partial<LinkLimits> = {},
): Promise<Wire> {
  const server = await startProcess(command);
  return new StdioWire(server, taker, { ...defaultLinkLimits, ...limits });
}

class StdioWire implements Wire {
  readonly hasStreams = false;
  readonly ended: Promise<string>;
  readonly #server: ServerProcess;
  readonly #taker: WireTaker;
  readonly #waitingBytesMax: number;
  #isOver = false;

  constructor(server: ServerProcess, taker: WireTaker, limits: LinkLimits) {
    this.#server = server;
    this.#taker = taker;
    this.#waitingBytesMax = limits.waitingBytesMax;
    this.ended = server.ended.then((why) => {
      this.#isOver = true;
      return why;
    });
    const { messageBytesMax } = limits;
    const messages = new LineReader(messageBytesMax, {
      line: (text) => this.#takeLine(text),
      long: () => taker.remark(`(a message of more than ${messageBytesMax} bytes was dropped)`),
      longOver: (head, tail) => this.#lose(head, tail, messageBytesMax),
    });
    const remarks = new LineReader(remarkBytesMax, { line: (text) => text !== "" && taker.remark(text) });
    server.stdout.on("data", (chunk: Buffer) => messages.push(chunk)).on("end", () => messages.end());
    server.stderr.on("data", (chunk: Buffer) => remarks.push(chunk)).on("end", () => remarks.end());
    for (const stream of [server.stdout, server.stderr]) stream.on("error", () => {});
  }

  send(message: JsonObject): Promise<void> {
    const { stdin } = this.#server;
    if (this.#isOver || !stdin.writable) {
      return Promise.reject(new McpxError("server_unreachable", "it has ended"));
    }
    if (stdin.writableLength > this.#waitingBytesMax) {
      return Promise.reject(new McpxError("server_unreachable", "it does not read what it is sent"));
    }
    stdin.write(`${JSON.stringify(message)}\n`);
    return sent;
  }

  close(): Promise<void> {
    return this.#server.end();
  }

  /** Some write greetings to their output; they are shown and do no harm. */
  #takeLine(text: string): void {
    if (text === "") return;
    let value: unknown;
    try {
      value = parseExact(text);
    } catch {
      this.#taker.remark(text.slice(0, remarkBytesMax));
      return;
    }
    if (isObject(value)) this.#taker.message(value);
    // COMPAT: MCP 2025-03-26 had batches.
    else if (Array.isArray(value)) {
      for (const message of value) if (isObject(message)) this.#taker.message(message);
    } else this.#taker.remark(text.slice(0, remarkBytesMax));
  }

  /** Whose answer it was stands near one of its ends, the way servers write them. */
  #lose(head: string, tail: string, bytesMax: number): void {
    const found =
      /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,64}")\s*,/.exec(head) ??
      /,\s*"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,64}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
    if (found?.[1] === undefined) return;
    const detail = `its answer has more than ${bytesMax} bytes`;
    this.#taker.unreadable?.(JSON.parse(found[1]) as string | number, detail);
  }
}
