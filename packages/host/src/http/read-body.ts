// Reading a body, never more of it than is allowed.
import type { IncomingMessage } from "node:http";
import { JsonShape, McpxError, type ShapeBounds } from "@mcpx/protocol";
import type { Hold } from "../fair/byte-ledger.ts";
import { GatheredBytes } from "../fair/gathered-bytes.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });
/** Each chunk of a body takes work however few bytes it has. */
const piecesMax = 16_384;

/** What a body may be, and who is asked before more of it is kept. */
export interface BodyBounds {
  bytesMax: number;
  /** Counted while the bytes come in, as if they were JSON, whatever the body calls itself. */
  shape?: ShapeBounds | undefined;
  /** Memory that is held for the one who sends it; throws where that is too much. Given back when the body is read. */
  hold?: ((bytes: number) => Hold) | undefined;
  /** Does the work when it is the sender's turn; false where that is later. At once unless given. */
  run?: ((work: () => void) => boolean) | undefined;
}

export async function readJson(raw: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  // Also a wall against forms: a page cannot send this type elsewhere without being asked first (CORS).
  if (!hasJson(raw)) throw new McpxError("bad_request", "content-type must be application/json");
  const text = await readText(raw, bounds);
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
export async function readText(raw: IncomingMessage, bounds: BodyBounds): Promise<string> {
  const { bytesMax } = bounds;
  if (Number(raw.headers["content-length"] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await readBytes(raw, bounds);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new McpxError("bad_utf8", "the body is not UTF-8");
  }
}

/** By events: iterating a stream costs several times as much. Listeners stay: taking one off costs a tick. */
function readBytes(raw: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  const { bytesMax, hold, run = atOnce } = bounds;
  const shape = bounds.shape !== undefined ? new JsonShape(bounds.shape) : undefined;
  const announced = Number(raw.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  return new Promise((resolve, reject) => {
    const body = new GatheredBytes();
    let pieces = 0;
    let held: Hold | undefined;
    let isOver = false;
    let isLate = false;
    let hasEnded = false;
    const end = () => {
      isOver = true;
      held?.release();
    };
    const stop = (error: unknown) => {
      end();
      raw.pause();
      reject(error);
    };
    /** Throws where more came than may. */
    const keep = (chunk: Buffer) => {
      if (body.length + chunk.length > bytesMax) throw tooLarge(bytesMax);
      pieces += 1;
      if (pieces > piecesMax) throw new McpxError("too_large", `a body may come in ${piecesMax} pieces`);
      shape?.take(chunk);
      body.add(chunk);
      if (hold === undefined || body.length >= announced) return;
      held ??= hold(body.length);
      held.resize(body.length);
    };
    const tryToKeep = (chunk: Buffer) => {
      if (isOver) return;
      try {
        keep(chunk);
      } catch (error) {
        stop(error);
      }
    };
    const take = (chunk: Buffer) => {
      if (isOver) return;
      const isDone = run(() => {
        tryToKeep(chunk);
        if (!isLate || isOver) return;
        isLate = false;
        if (hasEnded) finish();
        else raw.resume();
      });
      if (isDone) return;
      isLate = true;
      // The rest stays with its sender until then.
      raw.pause();
    };
    const finish = () => {
      if (isOver) return;
      hasEnded = true;
      // The end of a paused stream is told all the same, where nothing comes before it.
      if (isLate) return;
      end();
      resolve(body.whole());
    };
    // The peer left, was too slow or sent nonsense: no fault of ours, and nobody is there to be told.
    const fail = () => {
      if (!isOver && !hasEnded) stop(new McpxError("bad_request", "the body did not come whole"));
    };
    if (raw.destroyed) fail();
    else raw.on("data", take).on("end", finish).on("close", fail).on("error", ignore);
  });
}

function atOnce(work: () => void): true {
  work();
  return true;
}

/** What went wrong is told by the end that follows. */
function ignore(): void {}

function tooLarge(bytesMax: number): McpxError {
  return new McpxError("too_large", `a body may have ${bytesMax} bytes`);
}
