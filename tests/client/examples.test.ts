// Every example is run as it stands, against a real gateway, and checks itself.
import { type ChildProcess, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import type { TestServer } from "../support/test-server.ts";
import { startHouse } from "./support/house.ts";

const root = dirname(dirname(import.meta.dirname));
const people = {
  OVEN: "full", CHEF: "full", THIEF: "full", HUMAN: "full", ROOKIE: "restricted",
  NORTH: "full", SOUTH: "full", EAST: "full", WEST: "full",
} as const; // biome-ignore format: one line reads best

async function environment(house: TestServer): Promise<Record<string, string>> {
  const entries = Object.entries(people).map(async ([name, level]) => [
    `MCPX_TOKEN_${name}`,
    await house.token({ sub: name.toLowerCase(), topics: ["kitchen"], level }),
  ]);
  return { ...Object.fromEntries(await Promise.all(entries)), MCPX_URL: house.url };
}

/** Runs an example; `line` resolves with its first line, `ended` with its exit code. */
function run(name: string, env: Record<string, string>) {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--conditions=mcpx-source", join(root, "examples", `${name}.ts`)],
    { env: { ...process.env, ...env, NODE_OPTIONS: "" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const first = Promise.withResolvers<string>();
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on("line", (text) => {
      output.push(text);
      first.resolve(text);
    });
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, output: output.join("\n") })),
  );
  return { child, line: first.promise, ended };
}

const well = { code: 0, output: expect.stringMatching(/^done$/m) };

test("a robot serves, a coordinator calls it", async () => {
  const env = await environment(await startHouse());
  const robot = run("robot", env);
  expect(await robot.line).toBe("oven serves in kitchen");
  expect(await run("coordinator", env).ended).toEqual(well);
  robot.child.kill("SIGTERM");
  expect((await robot.ended).code).toBe(0);
});

test("a restricted agent proposes; a human fulfils, edits and advises against", async () => {
  const env = await environment(await startHouse());
  await run("robot", env).line;
  const human = run("human", env);
  expect(await human.line).toBe("human watches kitchen");
  expect(await run("restricted-agent", env).ended).toEqual(well);
  expect(await human.ended).toEqual(well);
});

for (const name of ["broadcast", "reconnect", "thief"]) {
  test(`${name} does what it says`, async () => {
    expect(await run(name, await environment(await startHouse())).ended).toEqual(well);
  });
}

test("no example is longer than 40 lines", () => {
  const long = globSync("examples/*.ts", { cwd: root }).filter(
    (file) => readFileSync(join(root, file), "utf8").trimEnd().split("\n").length >= 40,
  );
  expect(long).toEqual([]);
});
