// The C cores built for this machine, so that every read or write out of bounds and every undefined step ends them.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..");
const sanitised = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "--coverage"];
const flags = ["-std=gnu99", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-DWITHOUT_MAIN", ...sanitised];

interface Ended {
  status: number | null;
  lines: string[];
  errors: string;
}

export interface Program extends AsyncDisposable {
  run(args: readonly string[], lines: readonly string[]): Promise<Ended>;
  /** Of a source, in percent, over all runs so far. */
  linesCovered(source: string): Promise<number>;
}

/** `sources` are below the root. */
export async function buildSanitised(
  sources: readonly string[],
  more: readonly string[] = [],
): Promise<Program> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-core-"));
  const program = join(directory, "program");
  const files = sources.map((source) => (source.startsWith("/") ? source : join(root, source)));
  await run("gcc", [...flags, ...more, "-o", program, ...files], { cwd: directory });
  return {
    run: async (args, lines) => {
      const child = spawn(program, args, { cwd: directory });
      // One that has died reads nothing more; its status tells.
      child.stdin.on("error", () => {});
      child.stdin.end(`${lines.join("\n")}\n`);
      const said = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      const [out, errors, [status]] = await said;
      return { status, lines: out.split("\n").slice(0, -1), errors };
    },
    linesCovered: async (source) => {
      const { stdout } = await run("gcov", ["-n", "-r", "-s", root, `program-${source}.gcda`], {
        cwd: directory,
      });
      return Number(/Lines executed:([\d.]+)%/.exec(stdout)?.[1]);
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
