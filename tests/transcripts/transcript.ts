// A transcript is text: its title, then steps, one a line, with JSON indented below where a step needs some.
import type { TestServerOptions } from "../support/test-server.ts";

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

/** The gateway's options and limits, where a transcript needs other than the defaults. */
export function optionsOf({ steps }: Transcript): TestServerOptions {
  const json = steps.find(({ words }) => words === "configuration")?.json;
  return json === undefined ? {} : (JSON.parse(json) as TestServerOptions);
}
