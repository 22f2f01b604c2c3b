// Every transcript of this folder is a test of its own.
import { readdirSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { play } from "./play.ts";
import { readTranscript } from "./transcript.ts";

const folder = new URL(".", import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith(".txt"))) {
  const transcript = readTranscript(readFileSync(new URL(file, folder), "utf8"));
  test.concurrent(`${transcript.title} (${file})`, () => play(transcript));
}
