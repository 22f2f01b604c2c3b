// Plays the exchanges of the vectors to a stub with the tools of firmware/demo: a program that speaks bytes over its
// standard input and output, started anew for each exchange, since each begins at power-on.
import type { Verdict } from "../verdict.ts";
import { cobsFrame, readCobs } from "./cobs.ts";
import { startProgram } from "./line-program.ts";
import { readVectors } from "./vector-files.ts";

const answerMs = 5_000;

/**
 * A heartbeat of a number no exchange uses, and its answer: once it is answered, all that was to come before it has
 * come.
 */
const last = {
  a: { hears: "7e0304005a3863", answers: "7e0404005a00b38f" },
  b: { hears: "a2012102195a5b8917", answers: "a202195a5b04a0b9c5" },
} as const;

const ids = { a: ["AX-B-1", "AX-B-4", "AX-8.3-1"], b: ["AX-B-5", "AX-8.2-1", "AX-8.3-2"] } as const;

export async function* conformStub(
  command: readonly string[],
  profile: "a" | "b",
  folder: string,
): AsyncGenerator<Verdict> {
  for (const { name, hears, answers } of readVectors(folder, `profile-${profile}`).exchanges) {
    const about = {
      part: "devices",
      ids: ids[profile],
      title: `Profile ${profile.toUpperCase()}: ${name}`,
    } as const;
    try {
      const said = await playExchange(command, profile, hears);
      const expected = [...(profile === "a" ? [answers] : answers), last[profile].answers].join(" ").trim();
      if (said === expected) yield { ...about, outcome: "holds" };
      else yield { ...about, outcome: "differs", detail: `answered ${said}, not ${expected}` };
    } catch (error) {
      yield { ...about, outcome: "differs", detail: (error as Error).message };
    }
  }
}

/** What it answered in hexadecimal: of profile A the bytes, of profile B the packets without its announcement. */
async function playExchange(
  command: readonly string[],
  profile: "a" | "b",
  hears: readonly string[],
): Promise<string> {
  await using program = await startProgram(command);
  const { hears: question, answers: answer } = last[profile];
  for (const heard of [...hears, question]) {
    const bytes = Buffer.from(heard, "hex");
    program.write(profile === "a" ? bytes : cobsFrame(bytes));
  }
  if (profile === "a") {
    const said = await program.until((bytes) => bytes.toString("hex").endsWith(answer), answerMs);
    const before = said.toString("hex").slice(0, -answer.length);
    return [before, answer].join(" ").trim();
  }
  const said = await program.until((bytes) => readCobs(bytes).at(-1) === answer, answerMs);
  return readCobs(said)
    .filter((packet) => !packet.startsWith("a20120"))
    .join(" ");
}
