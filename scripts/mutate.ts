// `npm run mutate [-- --id ID… | --changed BASE] [--shard I/N] [--jobs N] [--json]`: breaks the code as spec/mutations
// says, once for each requirement that must hold, and fails where no test that names the requirement notices.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { readLater, readMutations, readRows, readTitledFiles } from "./ledger/read-repository.ts";
import { copyTree } from "./mutate/copy-tree.ts";
import { endAllRuns } from "./mutate/run-tests.ts";
import { isMutation, type Mutation, tableFaults } from "./mutate/table.ts";
import { testsOfIds } from "./mutate/tests-of.ts";
import { type SeenGreen, type Trial, tryMutation } from "./mutate/try-mutation.ts";

const { values: options } = parseArgs({
  options: {
    root: { type: "string", default: dirname(import.meta.dirname) },
    id: { type: "string", multiple: true },
    changed: { type: "string" },
    shard: { type: "string", default: "1/1" },
    jobs: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
  },
});
const root = options.root;

function say(line: string): void {
  if (!options.json) process.stdout.write(`${line}\n`);
}

const rows = readRows(root);
const later = readLater(root);
const entries = readMutations(root);
const testsOf = testsOfIds(readTitledFiles(root));

/** The mutations this run is asked for. */
function wanted(): Mutation[] {
  const [shard = 1, shards = 1] = options.shard.split("/").map(Number);
  const changed = options.changed === undefined ? undefined : changedSince(options.changed);
  const isTouched = ({ id, file }: Mutation) =>
    changed === undefined || [file, ...(testsOf.get(id) ?? [])].some((path) => changed.includes(path));
  return entries
    .filter(isMutation)
    .filter(({ id }) => options.id === undefined || options.id.includes(id))
    .filter(isTouched)
    .filter((_, index) => index % shards === shard - 1);
}

/** With what is not committed, and what git does not know yet. */
function changedSince(base: string): string[] {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n");
  return [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
}

const mutations = wanted();
const seenGreen: SeenGreen = new Set();
const trials: Trial[] = [];
const waiting = [...mutations];
const copies: string[] = [];

process.once("exit", () => {
  endAllRuns();
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

/** Takes one mutation after another until none is left, in a copy of its own. */
async function work(): Promise<void> {
  const copy = copyTree(root);
  copies.push(copy);
  for (let mutation = waiting.shift(); mutation; mutation = waiting.shift()) {
    const trial = await tryMutation(mutation, { copy, tests: testsOf.get(mutation.id) ?? [], seenGreen });
    trials.push(trial);
    const { id, file, line, verdict, detail, ms } = trial;
    say(`${verdict.padEnd(9)} ${id.padEnd(11)} ${file}${line ? `:${line}` : ""}  ${detail} (${ms} ms)`);
  }
}

const isWhole = options.id === undefined && options.changed === undefined;
const faults = isWhole ? tableFaults(rows, entries, (part) => Object.hasOwn(later, part)) : [];
const jobs = Math.min(Number(options.jobs), mutations.length);
await Promise.all(Array.from({ length: jobs }, work));

const counts = Object.groupBy(trials, ({ verdict }) => verdict);
const killed = counts.killed?.length ?? 0;
if (options.json) process.stdout.write(`${JSON.stringify({ trials, faults })}\n`);
for (const fault of faults) process.stderr.write(`mutate: ${fault}\n`);
say(
  Object.entries(counts)
    .map(([verdict, of]) => `${of.length} ${verdict}`)
    .join(", "),
);
if (killed < trials.length || faults.length > 0) process.exitCode = 1;
