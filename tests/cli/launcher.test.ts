// `bin/mcpx.js` on the Node that is there, whichever it is.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { bin, mcpx, type RunOptions, scratch, start, up } from "./support/mcpx-process.ts";

/** A Node before 24 on this machine, if it has one. */
const older = (process.env.PATH ?? "")
  .split(delimiter)
  .map((dir) => join(dir, "node"))
  .filter((path) => !path.includes("node_modules") && existsSync(path))
  .find(
    (path) =>
      Number.parseInt(execFileSync(path, ["-p", "process.versions.node"], { encoding: "utf8" }), 10) < 24,
  );

/** The launcher, by this Node or another. */
function launcher(path = bin, node = process.execPath): RunOptions {
  return { program: [node, path] };
}

/** The package as it is published: compiled, without sources. */
function published(): string {
  const dir = scratch();
  for (const name of ["bin", "dist"]) mkdirSync(join(dir, name));
  writeFileSync(join(dir, "package.json"), '{"type": "module"}');
  cpSync(bin, join(dir, "bin", "mcpx.js"));
  writeFileSync(join(dir, "dist", "main.js"), "console.log(JSON.stringify(process.argv.slice(2)));");
  return join(dir, "bin", "mcpx.js");
}

test("arguments and the exit code pass through", async () => {
  const version = { code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/) };
  expect(await mcpx(["--version"], launcher())).toMatchObject(version);
  expect((await mcpx(["no-such-command"], launcher())).code).toBe(2);
});

test("in a clone, it becomes the gateway: signals reach it", async () => {
  const gateway = await up(scratch(), [], launcher());
  gateway.kill("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  expect(gateway.err.join("\n")).toContain("stopped");
});

test("published, it runs what was compiled", async () => {
  const finished = await mcpx(["a", "--b"], launcher(published()));
  expect(finished).toEqual({ code: 0, out: '["a","--b"]', err: "" });
});

// Only a machine that has an older Node can show these.
test.skipIf(older === undefined)("published, an older Node is told what is needed", async () => {
  const { code, err } = await mcpx(["up"], launcher(published(), older));
  expect(code).toBe(1);
  expect(err).toMatch(/^mcpx: Node 24 or newer is needed and this is v[\d.]+; install it from [^\n]+$/);
});

test.skipIf(older === undefined)(
  "in a clone, an older Node starts the right one, and signals reach it",
  async () => {
    const dataDir = scratch();
    const options = launcher(bin, older);
    expect((await mcpx(["no-such-command"], options)).code).toBe(2);
    const gateway = start(["up", "--port", "0", "--json", "--data", dataDir], options);
    await gateway.line(/^\{"url"/);
    gateway.kill("SIGTERM");
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    expect(gateway.err.join("\n")).toContain("stopped");
  },
);

test.skipIf(older === undefined)("when the launcher is killed, the gateway ends as well", async () => {
  const dataDir = scratch();
  const launched = start(["up", "--port", "0", "--json", "--data", dataDir], launcher(bin, older));
  await launched.line(/^\{"url"/);
  launched.kill("SIGKILL");
  // Its output closes only when the gateway behind it is gone too.
  await launched.ended;
  await up(dataDir);
});

test("the command can be run by its name", () => {
  chmodSync(bin, 0o755);
  const env = { ...process.env, PATH: `${join(process.execPath, "..")}${delimiter}${process.env.PATH}` };
  expect(execFileSync(bin, ["--version"], { encoding: "utf8", env })).toMatch(/^\d+\.\d+\.\d+\n$/);
});
