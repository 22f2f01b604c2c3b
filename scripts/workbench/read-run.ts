// What a run of `npm test` says at its end (run.mjs): how many passed and failed, and which. Pure.

export interface RunResult {
  passed: number;
  failed: number;
  faults: Fault[];
}

interface Fault {
  /** File and title of the test, or the step that failed. */
  name: string;
  /** Of the random numbers it failed with, where its message tells them. */
  seed: string | undefined;
}

/** Nothing where the run never came to its end. */
export function readRun(log: string): RunResult | undefined {
  const plain = withoutColours(log);
  const last = [...plain.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  if (last === undefined) return undefined;
  const end = plain.slice(plain.lastIndexOf("\n── all together"));
  return { passed: Number(last[1]), failed: Number(last[2]), faults: faultsIn(end) };
}

function faultsIn(end: string): Fault[] {
  const [, ...parts] = end.split(/^✗ /m);
  return parts.map((part) => ({ name: part.split("\n", 1)[0] ?? "", seed: seedIn(part) }));
}

/** fast-check's `{ seed: -12, path: "3:1" }`, or `seed 12` as our own walks say it. */
function seedIn(text: string): string | undefined {
  return /\bseed:? (-?\d+)/i.exec(text)?.[1];
}

function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return text.replaceAll(/\u001b\[[\d;]*m/g, "");
}
