// A transcript is text: its title, then steps, one a line, with JSON indented below where a step needs some.

export interface Step {
  line: number;
  words: string;
  /** The JSON below it, as written. */
  json: string | undefined;
}

export interface Transcript {
  title: string;
  steps: Step[];
}

export function readTranscript(text: string): Transcript {
  const [title = "", ...lines] = text.split("\n");
  const steps: Step[] = [];
  lines.forEach((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return;
    const last = steps.at(-1);
    if (/^\s/.test(line) && last !== undefined) last.json = `${last.json ?? ""}${line.trim()}\n`;
    else steps.push({ line: index + 2, words: line.trim(), json: undefined });
  });
  return { title, steps };
}

/** The options and limits of the gateway as JSON, where a transcript needs other than the defaults. */
export function configurationOf({ steps }: Transcript): string | undefined {
  return steps.find(({ words }) => words === "configuration")?.json;
}

/** What a transcript needs that only the keeper of the gateway can do; `undefined` where an address is enough. */
export function needsKeeper(transcript: Transcript): string | undefined {
  const { steps } = transcript;
  if (configurationOf(transcript) !== undefined) return "needs a gateway configured for it";
  if (steps.some(({ words }) => words === "a gateway of its own")) return "looks at the whole gateway";
  const trim = steps.find(({ words }) => words.startsWith("the log is trimmed"));
  return trim && `needs: ${trim.words}`;
}
