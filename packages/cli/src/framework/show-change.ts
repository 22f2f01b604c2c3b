// What an edit changes, shown to people, and their consent to it.
import type { Surroundings } from "./command.ts";
import { Failure } from "./failure.ts";
import { hideSecrets } from "./secrets.ts";
import { type DiffLine, diffLines, diffText } from "./text-diff.ts";
import { cutWithMark } from "./visible.ts";

type Screen = Pick<Surroundings, "output" | "env">;

/** Some programs write all they have on one line; far more than is shown of it. */
const lineCharsMax = 100_000;

const styles = { "+": "green", "-": "red", " ": "dim", "…": "dim" } as const;

export function showDiff(
  { output }: Screen,
  before: string,
  after: string,
  secrets: readonly string[],
): void {
  for (const line of changedLines(before, after, secrets)) {
    output.line(output.paint(styles[line.sign], diffText(line)));
  }
}

/** The lines that change, with the secrets in them hidden. */
export function changedLines(before: string, after: string, secrets: readonly string[]): DiffLine[] {
  return diffLines(before, after).map(({ sign, text }) => ({
    sign,
    text: cutWithMark(hideSecrets(text, secrets), lineCharsMax),
  }));
}

/** One answer of a person; `undefined` where nobody is there to ask. */
export async function ask(
  context: Pick<Surroundings, "output" | "input">,
  question: string,
): Promise<string | undefined> {
  const input = context.input();
  if (!input.isTerminal) return undefined;
  context.output.line(question);
  // Plain: a prompt would be drawn once more behind the answer.
  const lines = input.open({ prompt: "", complete: () => [], isPlain: true });
  try {
    for await (const line of lines.lines) return line.trim();
    return "";
  } finally {
    lines.close();
  }
}

/** Whether to go on; throws where nobody can say so. The default is no. */
export async function consent(
  context: Pick<Surroundings, "output" | "input"> & { options: { yes: boolean; json: boolean } },
  question: string,
): Promise<boolean> {
  if (context.options.yes) return true;
  const answer = context.options.json ? undefined : await ask(context, `${question} y or n (Enter: n)`);
  if (answer === undefined)
    throw new Failure("nothing was written: there is no terminal to ask for confirmation", "add --yes");
  return /^y(es)?$/i.test(answer);
}

/** A path as people write it. */
export function shortPath(path: string, { env }: Pick<Surroundings, "env">): string {
  const { HOME: home } = env;
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Ready to be pasted. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9._~/+@:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
