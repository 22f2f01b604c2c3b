// Starts the fixture over HTTP as a process of its own and stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { programArgs } from "../support/programs.ts";
import type { Era } from "./fixture/fixture.ts";

export interface RunningFixture {
  url: string;
  stop(): Promise<void>;
}

/** The command line of the fixture, for those who start servers themselves. */
export function fixtureCommand(
  transport: "http" | "stdio",
  era: Era,
  broken: string[] = [],
): [string, ...string[]] {
  const breaks = broken.flatMap((tool) => ["--break", tool]);
  const main = programArgs("tests/conformance/fixture/main.ts");
  return [process.execPath, ...main, "--transport", transport, "--era", era, ...breaks];
}

export async function startFixture(era: Era, broken: string[] = []): Promise<RunningFixture> {
  const [program, ...args] = fixtureCommand("http", era, broken);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const first = await Promise.race([lines.next(), ended.then(() => undefined)]);
  if (!first || first.done) throw new Error("the fixture did not start");
  const { url } = JSON.parse(first.value) as { url: string };
  return {
    url,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
