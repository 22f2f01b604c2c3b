// `mcpx config`: a configuration checked, shown and explained, without starting anything.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, scratch } from "./support/mcpx-process.ts";

const secret = "ghp_abcdefghijklmnop0123456789";

function write(config: object | string): { file: string; dataDir: string; dir: string } {
  const dir = scratch();
  const file = join(dir, "given.json");
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify(config));
  return { file, dir, dataDir: join(dir, "data") };
}

test("config check names every fault with its place, and exits with 1; of a good one it says what it holds", async () => {
  const bad = write('{\n  "listen": { "prot": 1 },\n  "topics": { "a": { "history": "no" } }\n}');
  const refused = await mcpx(["config", "check", bad.file, "--data", bad.dataDir]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("given.json:2:15 listen.prot: unknown key; did you mean port?");
  expect(refused.err).toContain('given.json:3:22 topics.a.history: expected true or false; found "no"');
  const good = write({
    $schema: "./mcpx.schema.json",
    mcpServers: { files: { command: "touch", args: ["made"] } },
  });
  const taken = await mcpx(["config", "check", good.file, "--data", good.dataDir], { cwd: good.dir });
  expect(taken).toMatchObject({ code: 0, out: `${good.file} is valid: 1 server, settings of 0 rooms` });
  expect(existsSync(join(good.dir, "made"))).toBe(false);
});

test("a program may print a secret and nothing else; config check says which, and runs none", async () => {
  const cmd = (words: string) => ["$", `{cmd:${words}}`].join("");
  const touch = cmd("touch made");
  const good = write({
    mcpServers: {
      gh: { command: "gh", env: { TOKEN: touch } },
      far: { url: "https://x.example", headers: { key: `Bearer ${touch}` } },
    },
    scanners: { dlp: { url: "https://dlp.example", secret: cmd("pass show dlp") } },
  });
  const taken = await mcpx(["config", "check", good.file, "--data", good.dataDir], { cwd: good.dir });
  expect([taken.code, taken.out.split("\n").slice(1)]).toEqual([
    0,
    [
      "the gateway would run, for the secret it prints: touch made",
      "the gateway would run, for the secret it prints: pass show dlp",
    ],
  ]);
  expect(existsSync(join(good.dir, "made"))).toBe(false);
  const bad = write({ mcpServers: { gh: { command: touch, args: [touch] } } });
  const refused = await mcpx(["config", "check", bad.file, "--data", bad.dataDir]);
  expect(refused.code).toBe(1);
  for (const place of ["gh.command", "gh.args"])
    expect(refused.err).toMatch(new RegExp(`mcpServers.${place}.*: .*secrets only`));
  // What another file brings does not run a program for a secret.
  const added = await mcpx([
    "add",
    "hub",
    "--env",
    `TOKEN=${cmd("cat made")}`,
    "--config",
    good.file,
    "--data",
    good.dataDir,
    "--",
    "true",
  ]);
  expect([added.code, added.err]).toEqual([1, expect.stringContaining("by hand")]);
});

test("config print shows what counts, with every default where asked, and no secret", async () => {
  const { file, dataDir } = write({
    listen: { port: 7001 },
    mcpServers: {
      gh: { command: "gh", args: ["--token", secret], env: { GITHUB_TOKEN: secret, OTHER: "$" + "{env:X}" } },
    },
    parents: [{ url: "wss://tree.example.com/ax", segment: "edge", token: secret }],
  });
  const shown = await mcpx(["config", "print", file, "--data", dataDir, "--json"]);
  expect(shown.out).not.toContain(secret);
  expect(JSON.parse(shown.out)).toEqual({
    listen: { port: 7001 },
    mcpServers: {
      gh: { command: "gh", args: ["--token", "•••"], env: { GITHUB_TOKEN: "•••", OTHER: "$" + "{env:X}" } },
    },
    parents: [{ url: "wss://tree.example.com/ax", segment: "edge", token: "•••" }],
  });
  const resolved = await mcpx(["config", "print", file, "--data", dataDir, "--resolved", "--json"]);
  expect(resolved.out).not.toContain(secret);
  expect(JSON.parse(resolved.out)).toMatchObject({
    listen: { host: "127.0.0.1", port: 7001 },
    limits: { topicsMax: 10_000 },
  });
});

test("a configuration of the working directory that nobody accepted is not shown as one that counts", async () => {
  const { dir, dataDir } = write({});
  writeFileSync(join(dir, "mcpx.json"), '{ "mode": "open" }');
  const { code, err } = await mcpx(["config", "print", "--data", dataDir], { cwd: dir });
  expect([code, err]).toEqual([1, expect.stringContaining("nobody has accepted it")]);
});

test("config keys explains, and config schema is a schema that knows the keys", async () => {
  const keys = await mcpx(["config", "keys", "retention", "--json"]);
  const named = (JSON.parse(keys.out) as { key: string }[]).map(({ key }) => key);
  expect(named).toContain("topics.NAME.retention.bytes");
  expect(named).not.toContain("listen.port");
  expect(await mcpx(["config", "keys", "nothing-has-this"])).toMatchObject({ code: 1 });
  const { out } = await mcpx(["config", "schema", "--json"]);
  expect(JSON.parse(out)).toMatchObject({
    title: "mcpx.json",
    properties: { mode: { enum: ["mixed", "secure", "open"], description: expect.any(String) } },
  });
});
