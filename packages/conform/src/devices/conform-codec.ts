// Asks a program every vector: one JSON object a line, `{id, op, input}`, answered by `{id, value}` or
// `{id, refused: true}`, in any order. docs/CONFORM.md lists the operations.
import { isDeepStrictEqual } from "node:util";
import type { Verdict } from "../verdict.ts";
import { type LineProgram, startProgram } from "./line-program.ts";
import { type Question, questionsOf, vectorFiles } from "./vector-files.ts";

const answerMs = 30_000;
const shownMax = 5;

type Answer = { value?: unknown; refused?: true };

/** `folder` holds the vectors, `command` is the program with its arguments; it is started once. */
export async function* conformCodec(command: readonly string[], folder: string): AsyncGenerator<Verdict> {
  await using program = await startProgram(command);
  const answers = new Map<number, Answer>();
  for (const vectorFile of vectorFiles) {
    const { file, ids, title } = vectorFile;
    const about = { part: "devices", ids, title: `${title} (${file}.json)` } as const;
    try {
      const faults = await faultsOf(program, questionsOf(folder, vectorFile), answers);
      if (faults.length === 0) yield { ...about, outcome: "holds" };
      else yield { ...about, outcome: "differs", detail: shown(faults) };
    } catch (error) {
      yield { ...about, outcome: "differs", detail: (error as Error).message };
    }
  }
}

/** `answers` has those of earlier files: the ids go on from there. */
async function faultsOf(
  program: LineProgram,
  questions: readonly Question[],
  answers: Map<number, Answer>,
): Promise<string[]> {
  const first = answers.size;
  for (const [at, { op, input }] of questions.entries())
    program.write(`${JSON.stringify({ id: first + at, op, input })}\n`);
  const count = first + questions.length;
  const said = await program.until((bytes) => linesOf(bytes).length >= count, answerMs);
  for (const line of linesOf(said).slice(first)) {
    const { id, ...answer } = JSON.parse(line);
    answers.set(id, answer);
  }
  return questions.flatMap((question, at) => faultOf(question, answers.get(first + at)) ?? []);
}

function linesOf(bytes: Buffer): string[] {
  return bytes.toString().split("\n").slice(0, -1);
}

function faultOf({ name, op, expected }: Question, answer: Answer | undefined): string | undefined {
  if (answer === undefined) return `${op}, ${name}: not answered`;
  const isRight =
    "refused" in expected
      ? answer.refused === true
      : answer.refused !== true && isDeepStrictEqual(answer.value, expected.value);
  if (isRight) return undefined;
  const wanted = "refused" in expected ? "a refusal" : JSON.stringify(expected.value);
  return `${op}, ${name}: ${JSON.stringify(answer.refused ? answer : answer.value)}, not ${wanted}`.slice(
    0,
    400,
  );
}

function shown(faults: readonly string[]): string {
  const more = faults.length - shownMax;
  return [...faults.slice(0, shownMax), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
