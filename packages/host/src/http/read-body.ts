// Reading a body, never more of it than is allowed.
import type { IncomingMessage } from "node:http";
import { McpxError } from "@mcpx/protocol";

const decoder = new TextDecoder("utf-8", { fatal: true });

export async function readJson(raw: IncomingMessage, bytesMax: number): Promise<unknown> {
  // Also a wall against forms: a page cannot send this type elsewhere without being asked first (CORS).
  if (!hasJson(raw)) throw new McpxError("bad_request", "content-type must be application/json");
  const text = await readText(raw, bytesMax);
  try {
    return JSON.parse(text);
  } catch {
    throw new McpxError("bad_json", "the body is not valid JSON");
  }
}

/** Whether the body calls itself JSON. */
export function hasJson({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const type = headers["content-type"];
  if (type === undefined || type === "application/json") return type !== undefined;
  return type.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

/** The body as text, whatever it calls itself. */
export async function readText(raw: IncomingMessage, bytesMax: number): Promise<string> {
  if (Number(raw.headers["content-length"] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await readBytes(raw, bytesMax);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new McpxError("bad_utf8", "the body is not UTF-8");
  }
}

/** By events: iterating a stream costs several times as much. Listeners stay: taking one off costs a tick. */
function readBytes(raw: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let count = 0;
    let isOver = false;
    const stop = (error: McpxError) => {
      isOver = true;
      raw.pause();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      if (isOver) return;
      count += chunk.length;
      if (count <= bytesMax) chunks.push(chunk);
      else stop(tooLarge(bytesMax));
    };
    const finish = () => {
      if (isOver) return;
      isOver = true;
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    };
    // The peer left, was too slow or sent nonsense: no fault of ours, and nobody is there to be told.
    const fail = () => {
      if (!isOver) stop(new McpxError("bad_request", "the body did not come whole"));
    };
    if (raw.destroyed) fail();
    else raw.on("data", take).on("end", finish).on("close", fail).on("error", ignore);
  });
}

/** What went wrong is told by the end that follows. */
function ignore(): void {}

function tooLarge(bytesMax: number): McpxError {
  return new McpxError("too_large", `a body may have ${bytesMax} bytes`);
}
