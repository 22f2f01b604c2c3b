// The disk by itself, in a process of its own: bare writes and fsyncs at the rate and of the size of the log's, so
// that a stall of the disk is seen as one. Asked for a turn, it tells how long each envelope would have waited.
import { fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const perMs = 2;
/** Five pages: what the log writes for the two or three envelopes of a commit. */
const commit = Buffer.alloc(20_480, "x");
/** About where the write-ahead log is begun anew. */
const fileBytes = 16 * 1_048_576;

const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-disk-"));
const file = openSync(join(dir, "commits"), "w");
const never = new Int32Array(new SharedArrayBuffer(4));
let position = 0;

process.on("message", (ms: number) => process.send?.(turn(ms)));
process.on("disconnect", () => {
  rmSync(dir, { recursive: true, force: true });
  process.exit(0);
});

/** Those that came during a commit share the next one. */
function turn(ms: number): number[] {
  const waited: number[] = [];
  const began = performance.now();
  while (waited.length < ms * perMs) {
    const came = perMs * Math.min(ms, 1 + Math.floor(performance.now() - began));
    if (came === waited.length) Atomics.wait(never, 0, 0, began + came / perMs - performance.now());
    else {
      position = (position + writeSync(file, commit, 0, commit.length, position)) % fileBytes;
      fsyncSync(file);
      const now = performance.now() - began;
      for (let i = waited.length; i < came; i += 1) waited.push(now - Math.floor(i / perMs));
    }
  }
  return waited;
}
