// What the gateway and a launcher say to each other. To the launcher: one line that says what is started, then what is
// written to it. Back: frames of a kind, a length and a body. Pure but for buffers. [B-KEY-3]
import { isObject, parseExact } from "@mcpx/protocol";

const frameKinds = ["started", "refused", "stdout", "stderr", "ended"] as const;
export type FrameKind = (typeof frameKinds)[number];

/** What is started; without `cwd` in the home of the launcher's user. */
export interface Launch {
  command: string;
  args: readonly string[];
  cwd?: string;
  env: Readonly<Record<string, string>>;
}

/** Of a body, and of the line. */
export const launchBytesMax = 1_048_576;
const headBytes = 5;

export function frame(kind: FrameKind, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(frameKinds.indexOf(kind), 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Calls `take` with each frame; throws where what comes is none. */
export function frameReader(take: (kind: FrameKind, body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= headBytes) {
      const kind = frameKinds[rest.readUInt8(0)];
      const length = rest.readUInt32BE(1);
      if (kind === undefined || length > launchBytesMax)
        throw new Error("the launcher sent a frame that cannot be read");
      if (rest.length < headBytes + length) return;
      const body = rest.subarray(headBytes, headBytes + length);
      rest = rest.subarray(headBytes + length);
      take(kind, body);
    }
  };
}

export function launchLine(launch: Launch): string {
  return `${JSON.stringify(launch)}\n`;
}

/** `undefined` where it is none. */
export function readLaunch(line: string): Launch | undefined {
  let value: unknown;
  try {
    value = parseExact(line);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { command, args, cwd, env } = value;
  const isText = (one: unknown) => typeof one === "string";
  if (!isText(command) || !Array.isArray(args) || !args.every(isText)) return undefined;
  if (cwd !== undefined && !isText(cwd)) return undefined;
  if (!isObject(env) || !Object.values(env).every(isText)) return undefined;
  return value as unknown as Launch;
}
