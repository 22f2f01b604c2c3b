// The C cores built for this machine, so that every read or write out of bounds and every undefined step ends them.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { keepBuilt } from "../../../scripts/firmware/keep-built.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..");
const sanitised = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const flags = ["-std=gnu99", "-g1", "-Wall", "-Wextra", "-Werror", "-DWITHOUT_MAIN", ...sanitised];

/** For what is run long and looked at closely: it takes twice as long to build. */
export const fastAndCounted = ["-O1", "--coverage"];

interface Ended {
  status: number | null;
  lines: string[];
  errors: string;
}

export interface Program extends AsyncDisposable {
  run(args: readonly string[], lines: readonly string[]): Promise<Ended>;
  /** Of a source, in percent, over all runs so far; of what was built to be counted. */
  linesCovered(source: string): Promise<number>;
}

/** `sources` are below the root. */
export async function buildSanitised(
  sources: readonly string[],
  more: readonly string[] = [],
): Promise<Program> {
  const files = sources.map((source) => (source.startsWith("/") ? source : join(root, source)));
  const kept = await keepBuilt(
    { compiler: "gcc", words: [...flags, ...more, ...(await textsFor(files))] },
    // Named from where it is made: what is noted for the coverage is found beside it.
    (directory) => run("gcc", [...flags, ...more, "-o", "program", ...files], { cwd: directory }),
  );
  // What runs reach is counted anew here, whatever others have reached with the same program.
  const counts = await mkdtemp(join(tmpdir(), "mcpx-core-"));
  const env = { ...process.env, GCOV_PREFIX: counts, GCOV_PREFIX_STRIP: "99" };
  return {
    run: async (args, lines) => {
      const child = spawn(join(kept, "program"), args, { cwd: counts, env });
      // One that has died reads nothing more; its status tells.
      child.stdin.on("error", () => {});
      child.stdin.end(`${lines.join("\n")}\n`);
      const said = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      const [out, errors, [status]] = await said;
      return { status, lines: out.split("\n").slice(0, -1), errors };
    },
    linesCovered: async (source) => {
      const notes = `program-${source}.gcno`;
      await copyFile(join(kept, notes), join(counts, notes));
      const { stdout } = await run("gcov", ["-n", "-r", "-s", root, `program-${source}.gcda`], {
        cwd: counts,
      });
      return Number(/Lines executed:([\d.]+)%/.exec(stdout)?.[1]);
    },
    [Symbol.asyncDispose]: () => rm(counts, { recursive: true, force: true }),
  };
}

/** The sources, wherever they are, and the headers beside ours. */
async function textsFor(files: readonly string[]): Promise<string[]> {
  const ours = dirname(import.meta.dirname);
  const headers = (await readdir(ours)).filter((name) => name.endsWith(".h")).sort();
  return textsOf([...files, ...headers.map((name) => join(ours, name))]);
}

/** What a build depends on: names and contents. */
export function textsOf(files: readonly string[]): Promise<string[]> {
  return Promise.all(files.map(async (file) => `${basename(file)}\n${await readFile(file, "utf8")}`));
}
