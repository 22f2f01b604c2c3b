// Plays what was typed and shown at a terminal, and says what is shown now. A transcript is text for people:
//   # words       for the reader
//   $ command     typed once; below it is what the terminal showed
//   ~ command     typed again and again until it shows that
//   $ command &   stays, in a terminal of its own, and is ended with Ctrl-C when all is over
//   > answer      typed when what stands above it has been shown
//   >* answer     the same, behind a question whose line has not ended; the terminal does not show it
//   <pid of X>    differs each time. Those of a process or port are remembered: the same afterwards, also in commands
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningCommand, type RunOptions, start } from "./mcpx-process.ts";
import { filledIn, isShownAs, type Memory } from "./terminal-line.ts";

interface Step {
  /** `undefined` for what is only for the reader. */
  typed: { sign: "$" | "~"; command: string } | undefined;
  /** As it is written, the typed line not among them. */
  lines: string[];
}

export interface Machine {
  options: RunOptions;
  /** What is written in the transcript for values of this machine, such as paths. */
  names: ReadonlyMap<string, string>;
}

const erase = "\u001b[K";
const begunAnew = "\u001b[1G\u001b[0J";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor behind a prompt begins with one
const prompt = /^\S+> \u001b\[[0-9]+G/;
const patienceMs = 30_000;
const terminal = ["python3", `${import.meta.dirname}/terminal.py`, "bash", "-c"] as const;

/** The transcript as it is now: the same text where everything was shown as it is written. */
export async function play(text: string, machine: Machine): Promise<string> {
  const memory: Memory = new Map();
  const staying: RunningCommand[] = [];
  const shown: string[] = [];
  const steps = readSteps(text);
  for (const [index, { typed, lines }] of steps.entries()) {
    if (typed === undefined) {
      shown.push(...lines);
      continue;
    }
    shown.push(`${typed.sign} ${typed.command}`);
    // A blank line at the end separates the steps.
    const written = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
    const command = filledIn(typed.command, memory);
    const result = await playStep(command, typed.sign, written, { machine, memory, staying });
    shown.push(...result, ...lines.slice(written.length));
    if (String(result) === String(written)) continue;
    // What comes of the first difference is no news.
    shown.push(...steps.slice(index + 1).flatMap(textOf));
    break;
  }
  for (const command of staying) {
    command.press("\u0003");
    await command.ended;
  }
  return shown.join("\n");
}

interface Play {
  machine: Machine;
  memory: Memory;
  staying: RunningCommand[];
}

async function playStep(
  command: string,
  sign: "$" | "~",
  written: readonly string[],
  { machine, memory, staying }: Play,
): Promise<string[]> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const stays = command.endsWith(" &");
    const running = start([stays ? command.slice(0, -2) : command], {
      ...machine.options,
      isTyped: true,
      program: terminal,
    });
    // What is seen in vain is not remembered.
    let seen = new Map(memory);
    const hidden = new Set<number>();
    const now = (asked = "") => {
      seen = new Map(memory);
      return withHidden(
        compared([...running.out, ...(asked === "" ? [] : [asked])], written, machine.names, seen),
        written,
        hidden,
      );
    };
    if (stays) {
      staying.push(running);
      await answer(running, { written, hidden, now, until });
      while (String(now()) !== String(written) && performance.now() < until) await sleep(20);
    } else {
      await answer(running, { written, hidden, now, until });
      running.type();
      await running.ended;
    }
    const result = now();
    if (sign === "~" && String(result) !== String(written) && performance.now() < until) continue;
    for (const [name, value] of seen) memory.set(name, value);
    return result;
  }
}

interface Answering {
  written: readonly string[];
  /** Lines of answers that were typed and are not shown. */
  hidden: Set<number>;
  /** With what it asks on a line that has not ended, where that is given. */
  now(asked?: string): string[];
  until: number;
}

/** Types each answer as soon as what is written above it has been shown. */
async function answer(running: RunningCommand, { written, hidden, now, until }: Answering): Promise<void> {
  let isOver = false;
  void running.ended.then(() => {
    isOver = true;
  });
  for (const [index, line] of written.entries()) {
    const [, sign, typed] = /^(>\*?) (.*)$/.exec(line) ?? [];
    if (typed === undefined) continue;
    const above = String(written.slice(0, index));
    const isHidden = sign === ">*";
    const shown = () => String(now(isHidden ? running.unended.trimEnd() : ""));
    while (shown() !== above && !isOver && performance.now() < until) await sleep(20);
    if (isHidden) hidden.add(index);
    running.type(typed);
  }
}

/** Answers that the terminal does not show, where they were given. */
function withHidden(shown: string[], written: readonly string[], hidden: ReadonlySet<number>): string[] {
  const all = [...shown];
  for (const index of hidden) all.splice(index, 0, written[index] as string);
  return all;
}

/** What was shown, in the words of the transcript where they fit. */
function compared(
  out: readonly string[],
  written: readonly string[],
  names: ReadonlyMap<string, string>,
  memory: Memory,
): string[] {
  let next = 0;
  // A line that is erased again, as progress is, is nothing to see.
  const standing = out
    .filter((line, i) => !line.endsWith(erase) && !isReturn(line, out[i - 1]))
    .map(asItStands);
  return standing.map((line) => {
    let text = line;
    for (const [value, name] of names) text = text.replaceAll(value, name);
    const found = written.findIndex((one, index) => {
      const expected = one.startsWith("> ") ? one.slice(2) : one;
      return index >= next && isShownAs(text, expected, memory);
    });
    if (found === -1) return text;
    next = found + 1;
    return written[found] as string;
  });
}

/** The Return at the end of a line that was edited: an editor of lines writes `\\r\\r\\n`, which is read as two lines. */
function isReturn(line: string, before: string | undefined): boolean {
  return line === "" && before !== undefined && before.includes(begunAnew);
}

/** A line as it is seen in the end: an editor of lines begins it anew again and again, behind its prompt. */
function asItStands(line: string): string {
  const drawn = line.replaceAll(erase, "").split(begunAnew).at(-1) ?? "";
  return drawn.replace(prompt, "").trimEnd();
}

function textOf({ typed, lines }: Step): string[] {
  return typed === undefined ? lines : [`${typed.sign} ${typed.command}`, ...lines];
}

function readSteps(text: string): Step[] {
  const steps: Step[] = [{ typed: undefined, lines: [] }];
  for (const line of text.split("\n")) {
    const [, sign, command] = /^([$~]) (.*)$/.exec(line) ?? [];
    if (sign !== undefined && command !== undefined) {
      steps.push({ typed: { sign: sign as "$" | "~", command }, lines: [] });
    } else if (line.startsWith("# ")) {
      const last = steps.at(-1);
      if (last?.typed === undefined) last?.lines.push(line);
      else steps.push({ typed: undefined, lines: [line] });
    } else {
      steps.at(-1)?.lines.push(line);
    }
  }
  return steps;
}
