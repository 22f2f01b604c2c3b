import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fillIn } from "./fill-in.ts";
import { createSecretCommands } from "./secret-commands.ts";

const dir = mkdtempSync(join(tmpdir(), "mcpx-secret-commands-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** A program of this name, run by the Node that runs the tests. */
function program(name: string, source: string): string {
  const path = join(dir, `${name}.mjs`);
  writeFileSync(path, source);
  return `${process.execPath} ${path}`;
}

const world = (env: Record<string, string> = {}) => {
  const clock = { now: 0 };
  return { clock, commands: createSecretCommands({ env, now: () => clock.now }) };
};
const value = (command: string) => ["Bearer $", `{cmd:${command}}!`].join("");

test("what a program prints stands where it is named, without the line's end, with the words it was given and no shell", async () => {
  const { commands } = world({ WHOSE: "gran" });
  const echo = program("echo", "console.log(process.argv.slice(2).join('|'), process.env.WHOSE)");
  const text = value(`${echo} a  $HOME;ls`);
  await commands.prepare({ deep: [{ text }] });
  expect(fillIn(text, { dir, env: {}, commands })).toBe("Bearer a|$HOME;ls gran!");
});

test("what is not prepared, fails, prints nothing or prints too much is a fault that names the program and nothing else", async () => {
  const { commands } = world();
  const faults = {
    fails: ["console.log('s3cret'); process.exit(3)", "it has ended with 3"],
    silent: ["", "it has printed nothing"],
    long: ["process.stdout.write('s3cret'.repeat(100000))", "it has printed more than 65536 bytes"],
  };
  for (const [name, [source = "", fault = ""]] of Object.entries(faults)) {
    const command = program(name, source);
    await commands.prepare(value(command));
    expect(() => commands.read(command)).toThrow(fault);
    expect(() => commands.read(command)).not.toThrow("s3cret");
  }
  await commands.prepare(value("/nowhere/keychain find"));
  expect(() => commands.read("/nowhere/keychain find")).toThrow(
    "the command /nowhere/keychain: it cannot be started (ENOENT)",
  );
  expect(() => fillIn(value("x"), { dir, env: {} })).toThrow("only a running gateway");
});

test("a program runs once, again when its secret is old, and what was known stays where it fails then", async () => {
  const { clock, commands } = world();
  const file = join(dir, "kept");
  writeFileSync(file, "one");
  const command = program(
    "keep",
    `import { appendFileSync, readFileSync } from "node:fs";
     appendFileSync(${JSON.stringify(`${file}.runs`)}, "x");
     const kept = readFileSync(${JSON.stringify(file)}, "utf8");
     if (kept === "gone") process.exit(1);
     console.log(kept);`,
  );
  const runs = () => readFileSync(`${file}.runs`, "utf8").length;
  await commands.prepare(value(command));
  await commands.prepare(value(command));
  expect([commands.read(command), runs()]).toEqual(["one", 1]);
  writeFileSync(file, "two");
  clock.now += 299_000;
  expect([commands.read(command), runs()]).toEqual(["one", 1]);
  clock.now += 2_000;
  expect(commands.read(command)).toBe("one");
  await expect.poll(() => commands.read(command)).toBe("two");
  writeFileSync(file, "gone");
  clock.now += 301_000;
  commands.read(command);
  await expect.poll(runs).toBe(3);
  expect(commands.read(command)).toBe("two");
});
