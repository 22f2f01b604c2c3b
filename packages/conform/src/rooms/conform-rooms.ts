// Plays the transcripts against a gateway that is there already.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { outcomeOf } from "../outcome-of.ts";
import type { Target } from "../target.ts";
import { readTitle, type Verdict } from "../verdict.ts";
import { play } from "./play.ts";
import { renamed } from "./renamed.ts";
import { needsKeeper, readTranscript } from "./transcript.ts";

export function readTranscripts(folder: string): { file: string; text: string }[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".txt"));
  return files.sort().map((file) => ({ file, text: readFileSync(join(folder, file), "utf8") }));
}

/** One after the other: what one leaves behind must not disturb the next. */
export async function* conformRooms(target: Target, folder: string): AsyncGenerator<Verdict> {
  const suffix = randomBytes(3).toString("hex");
  for (const { file, text } of readTranscripts(folder)) {
    const { ids, title } = readTitle(text.split("\n", 1)[0] ?? "");
    const about = { part: "rooms", ids, title: `${title} (${file})` } as const;
    const transcript = readTranscript(renamed(text, suffix));
    const need = needsKeeper(transcript);
    if (need !== undefined) yield { ...about, outcome: "not tried", detail: need };
    else yield { ...about, ...(await outcomeOf(play({ ...transcript, title: file }, target))) };
  }
}
