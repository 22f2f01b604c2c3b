// The protocol is what its document says: a client written from spec/PROTOCOL.md alone plays every transcript of a room.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { readTranscript, readTranscripts } from "@mcpx/conform";
import type { TokenClaims } from "@mcpx/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";
import { trimLog } from "../support/trim-log.ts";

type Question =
  | { ask: "gateway"; configuration: TestServerOptions }
  | { ask: "token"; claims: TokenClaims }
  | { ask: "restart" }
  | { ask: "trim"; topic: string; keep: number }
  | { ask?: never; played: string; fault: string | null };

let player: ChildProcess;
let questions: AsyncIterator<string>;
let server: TestServer | undefined;

beforeAll(() => {
  player = spawn("/usr/bin/python3", ["-B", join(import.meta.dirname, "play.py")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (player.stdout === null) throw new Error("the player has no standard output");
  questions = createInterface({ input: player.stdout })[Symbol.asyncIterator]();
});
afterAll(async () => {
  player.stdin?.end();
  await server?.stop();
});

const folder = join(import.meta.dirname, "..", "..", "spec", "transcripts");
for (const { file, text } of readTranscripts(folder)) {
  test(`${readTranscript(text).title}, by the client in Python (${file})`, async () => {
    expect(await play(join(folder, file))).toBeNull();
  });
}

async function play(file: string): Promise<string | null> {
  player.stdin?.write(`${file}\n`);
  for (;;) {
    const { value, done } = await questions.next();
    if (done === true) throw new Error("the player in Python ended");
    const question: Question = JSON.parse(value);
    if (question.ask === undefined) return question.fault;
    player.stdin?.write(`${JSON.stringify(await answer(question))}\n`);
  }
}

async function answer(question: Exclude<Question, { played: string }>): Promise<object> {
  if (question.ask === "gateway") {
    await server?.stop();
    server = await startTestServer(question.configuration);
    return { url: server.url };
  }
  if (server === undefined) throw new Error("the player asked for a token before a gateway");
  if (question.ask === "token") return { token: await server.token(question.claims) };
  if (question.ask === "restart") {
    await server.restart();
    return { url: server.url };
  }
  await trimLog(server, question.topic, question.keep);
  return {};
}
