// Reading a JSON body, never more of it than is allowed.
import type { IncomingMessage } from "node:http";
import { McpxError } from "@mcpx/protocol";

export async function readJson(raw: IncomingMessage, bytesMax: number): Promise<unknown> {
  const type = raw.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  // Also a wall against forms: a page cannot send this type elsewhere without being asked first (CORS).
  if (type !== "application/json")
    throw new McpxError("bad_request", "content-type must be application/json");
  if (Number(raw.headers["content-length"] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await readBytes(raw, bytesMax);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new McpxError("bad_utf8", "the body is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new McpxError("bad_json", "the body is not valid JSON");
  }
}

async function readBytes(raw: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let count = 0;
  try {
    for await (const chunk of raw as AsyncIterable<Buffer>) {
      count += chunk.length;
      if (count > bytesMax) break;
      chunks.push(chunk);
    }
  } catch {
    // The peer left, was too slow or sent nonsense: no fault of ours, and nobody is there to be told.
    throw new McpxError("bad_request", "the body did not come whole");
  }
  if (count > bytesMax) throw tooLarge(bytesMax);
  return Buffer.concat(chunks);
}

function tooLarge(bytesMax: number): McpxError {
  return new McpxError("too_large", `a body may have ${bytesMax} bytes`);
}
