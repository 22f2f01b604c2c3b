// One tool of the tree's own, called over HTTP without a session: a POST, and its answer as JSON or as a stream.
import { EventReader, isObject, type JsonObject } from "@mcpx/protocol";
import { asError, RoomError } from "../core/room-error.ts";

export interface TreeEndpoint {
  /** The gateway: `http://127.0.0.1:6279`, or with `https:`. */
  url: string;
  /** Its `tools` must name `mcpax.ask` and `mcpax.wait`. Where it is a function, that is asked before every request. */
  token: string | (() => Promise<string>);
}

export interface ToolCall {
  name: string;
  arguments: JsonObject;
}

const revision = "2026-07-28";
const answerCharsMax = 1_048_576;
/** Longer than the gateway holds any answer. */
const answerMs = 90_000;
const loopback: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];

/** A token is not sent in the clear over a network. */
export function treeAddress(url: string): string {
  if (!URL.canParse(url)) throw new RoomError("bad_option", `url is not a valid URL: ${url}`);
  const { protocol, hostname, origin, pathname } = new URL(url);
  const isSafe = protocol === "https:" || (protocol === "http:" && loopback.includes(hostname));
  if (!isSafe) throw new RoomError("bad_option", `url must be https: or on this machine, and is ${origin}`);
  const path = pathname.replace(/\/$/, "");
  return `${origin}${path.includes("/mcp") ? path : `${path}/mcp`}`;
}

/** Throws a `RoomError`: `network` where trying again may help, else the tree's word. */
export async function callTree(
  endpoint: TreeEndpoint,
  call: ToolCall,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const id = crypto.randomUUID();
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "mcpx-adapter", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const token = typeof endpoint.token === "string" ? endpoint.token : await endpoint.token();
  const late = AbortSignal.timeout(answerMs);
  const response = await fetch(endpoint.url, {
    method: "POST",
    redirect: "error",
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": call.name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { ...call, _meta: meta } }),
    signal: signal === undefined ? late : AbortSignal.any([signal, late]),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    const why = asError(error);
    throw new RoomError("network", `${endpoint.url} cannot be reached: ${asError(why.cause ?? why).message}`);
  });
  const answer = await readAnswer(response, id);
  if (isObject(answer?.result)) return answer.result;
  throw refusal(response.status, answer?.error);
}

/** The message with this id, and no other. */
async function readAnswer(response: Response, id: string): Promise<JsonObject | undefined> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  let found: JsonObject | undefined;
  const take = (text: string) => {
    const message: unknown = JSON.parse(text);
    if (isObject(message) && (message.id === id || isObject(message.error))) found = message;
  };
  try {
    const text = await response.text();
    if (text.length > answerCharsMax) throw new RoomError("bad_answer", "the tree's answer is too large");
    if (!isStream) take(text);
    else {
      // No event is larger than the whole answer may be.
      const taker = { event: (data: string) => void (data !== "" && take(data)), tooLarge: () => {} };
      new EventReader(answerCharsMax, taker).push(text);
    }
  } catch (error) {
    if (error instanceof RoomError) throw error;
    throw new RoomError("network", `the tree's answer broke off or is no JSON: ${asError(error).message}`);
  }
  return found;
}

function refusal(status: number, error: unknown): RoomError {
  const { message, data } = isObject(error) ? error : {};
  const reason = isObject(data) && typeof data.reason === "string" ? data.reason : undefined;
  const told = typeof message === "string" ? message : `the tree answered ${status} without a result`;
  return new RoomError(reason ?? (status >= 500 || status === 200 ? "network" : "refused"), told);
}
