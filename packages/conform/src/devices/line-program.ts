// A program of the implementation under test, started by the kit and spoken to over its standard input and output.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface LineProgram extends AsyncDisposable {
  write(bytes: Uint8Array | string): void;
  /** Everything it has said, until `isEnough` says so; throws where it ends or is silent before. */
  until(isEnough: (said: Buffer) => boolean, timeoutMs: number): Promise<Buffer>;
}

export async function startProgram([command = "", ...args]: readonly string[]): Promise<LineProgram> {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  let said = Buffer.alloc(0);
  let complaint = "";
  let end: string | undefined;
  let wake = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    said = Buffer.concat([said, chunk]);
    wake();
  });
  child.stderr.on("data", (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-500);
  });
  child.on("error", ({ message }) => {
    end = message;
    wake();
  });
  child.on("close", (code) => {
    end ??= `${command} has ended with ${code}${complaint && `: ${complaint.trim()}`}`;
    wake();
  });
  // A program that is gone is told by `until`.
  child.stdin.on("error", () => {});
  return {
    write: (bytes) => void child.stdin.write(bytes),
    async until(isEnough, timeoutMs) {
      const deadline = AbortSignal.timeout(timeoutMs);
      while (!isEnough(said)) {
        if (end !== undefined) throw new Error(end);
        if (deadline.aborted) throw new Error(`${command} said nothing more for ${timeoutMs} ms`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          deadline.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      return said;
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}
