// One kept-alive HTTP connection that writes requests as they are given and reads answers with as little work as
// will do: one request at a time, text in ASCII.
import { connect, type Socket } from "node:net";

export interface HttpAnswer {
  status: number;
  /** Status line and headers. */
  head: string;
  body: string;
}

export class HttpConnection {
  readonly #socket: Socket;
  #text = "";
  #take: ((answer: HttpAnswer) => void) | undefined;

  private constructor(socket: Socket, onBroken: (error: Error) => void) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#read(chunk.toString("latin1")));
    socket.on("error", onBroken);
    socket.on("close", () => {
      if (this.#take !== undefined) onBroken(new Error("a connection ended before its answer"));
    });
  }

  /** `onBroken` is called when the connection fails while an answer is awaited. */
  static connect(url: string, onBroken: (error: Error) => void): Promise<HttpConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new HttpConnection(socket, onBroken));
      });
    });
  }

  ask(request: string, take: (answer: HttpAnswer) => void): void {
    this.#take = take;
    this.#socket.write(request, "latin1");
  }

  close(): void {
    this.#take = undefined;
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#text += chunk;
    const headEnd = this.#text.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const head = this.#text.slice(0, headEnd);
    const status = Number(head.slice(9, 12));
    const body = bodyOf(head, status, this.#text, headEnd + 4);
    if (body === undefined) return;
    this.#text = "";
    const take = this.#take;
    this.#take = undefined;
    take?.({ status, head, body });
  }
}

export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\r\n${name}: *([^\r]*)`, "i").exec(head)?.[1];
}

/** Undefined while some of it is still to come. */
function bodyOf(head: string, status: number, text: string, from: number): string | undefined {
  if (status === 204) return "";
  const length = headerOf(head, "content-length");
  if (length !== undefined) {
    const end = from + Number(length);
    return text.length < end ? undefined : text.slice(from, end);
  }
  let body = "";
  for (let at = from; ; ) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error(`neither a length nor chunks: ${head}`);
    const end = lineEnd + 2 + size + 2;
    if (text.length < end) return undefined;
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, end - 2);
    at = end;
  }
}
