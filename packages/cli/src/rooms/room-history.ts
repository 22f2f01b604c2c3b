// A room's whole history as texts, oldest first, byte for byte; from a gateway, or from a file that was exported.
import { createReadStream } from "node:fs";
import { isObject, splitList } from "@mcpx/protocol";
import { type Entrance, readGateway } from "../access/gateway-access.ts";
import { boundedLines } from "../framework/bounded-lines.ts";
import { Failure } from "../framework/failure.ts";

/** Envelopes asked for at once; the gateway may give fewer. */
const windowSize = 500;
/** An envelope of the largest size as a JSON string, every byte of it escaped. */
const lineCharsMax = 2_097_152;

/** Window by window, so that memory does not grow with the room. */
export async function* historyOf(entrance: Entrance, topic: string): AsyncGenerator<string> {
  const base = `/v0/topics/${encodeURIComponent(topic)}/history`;
  const { answer } = await readGateway(entrance, "GET", `${base}?limit=1`);
  const [newest] = Array.isArray(answer.envelopes) ? answer.envelopes : [];
  const last = newest === undefined ? 0 : isObject(newest) ? newest.seq : undefined;
  if (typeof last !== "number" || !Number.isSafeInteger(last)) {
    throw untrue(entrance, "an envelope without a number (seq)");
  }
  for (let after = 0; after < last; after += windowSize) {
    const texts: string[] = [];
    let path: string | undefined =
      `${base}?limit=${windowSize}&after_seq=${after}&before_seq=${after + windowSize + 1}`;
    while (path !== undefined) {
      const page = await readGateway(entrance, "GET", path);
      texts.push(...splitList(page.text, ["envelopes"]));
      if (texts.length > windowSize) {
        throw untrue(entrance, `more than the ${windowSize} envelopes it was asked for`);
      }
      path = typeof page.answer.next === "string" ? page.answer.next : undefined;
    }
    yield* texts.reverse();
  }
}

function untrue({ url }: Entrance, answered: string): Failure {
  return new Failure(
    `the gateway at ${url} answered with ${answered}`,
    "its history cannot be verified; ask who runs it",
  );
}

/** A line is an envelope, or a JSON string of its text where that has line ends of its own. */
export function exportLine(text: string): string {
  return /[\r\n]/.test(text) ? JSON.stringify(text) : text;
}

export async function* historyIn(path: string, file: string): AsyncGenerator<string> {
  try {
    for await (const line of boundedLines(createReadStream(path), lineCharsMax)) {
      if (line.trim() !== "") yield line.startsWith('"') ? unquoted(line) : line;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Failure(`${file} cannot be read (${code})`, "make one with mcpx verify ROOM --export FILE", {
      cause: error,
    });
  }
}

/** What is not JSON stays as it is, and is judged as what it is. */
function unquoted(line: string): string {
  try {
    return String(JSON.parse(line));
  } catch {
    return line;
  }
}
