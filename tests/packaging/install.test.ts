// What is published, used as people use it: installed from its tarball on a machine that has nothing of this
// repository, and started as its README says.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { start } from "../cli/support/mcpx-process.ts";
import { type CleanMachine, cleanMachine, installedIn } from "./support/clean-machine.ts";

const root = dirname(dirname(import.meta.dirname));
const require = createRequire(import.meta.url);

/** What may be installed with mcpx. More than this is decided, not happened upon. */
const budget = { packages: 125, bytes: 40_000_000 };

let machine: CleanMachine;
let release = "";

beforeAll(() => {
  machine = cleanMachine();
  release = join(machine.home, "release");
  execFileSync(process.execPath, ["scripts/release.ts", "--dry", "--out", release], {
    cwd: root,
    stdio: "pipe",
  });
  machine.run("npm", ["install", "-g", "--no-audit", "--no-fund", tarball("mcpx")]);
}, 180_000);

afterAll(() => machine?.remove());

const versionOf = (folder: string) =>
  (JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { version: string }).version;

const tarball = (name: string) => join(release, `${name}-${versionOf("packages/mcpx")}.tgz`);

/** The commands of a section of the README that is in the package. */
function commandsOf(section: string): string[] {
  const readme = readFileSync(join(machine.modules, "mcpx", "README.md"), "utf8");
  const text = readme.split(/^## /m).find((one) => one.startsWith(section)) ?? "";
  return [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = ""]) => block.trimEnd().split("\n"))
    .map((line) => line.replace(/\s+#.*$/, ""));
}

/** So that nothing is fetched for it: the server the README adds is the one the tests have. */
function putServerWithinReach(): void {
  const server = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
  const npx = join(machine.home, "bin", "npx");
  writeFileSync(npx, `#!/bin/sh\nexec "${process.execPath}" "${server}"\n`);
  chmodSync(npx, 0o700);
}

test("[B-SHIP-1] the README's start works from the tarball: up, a link, a server, a call, the end", async () => {
  const options = { cwd: machine.home, env: machine.env };
  const [install, up, ...then] = commandsOf("Start");
  expect([install, up]).toEqual(["npm install -g mcpx", "mcpx up"]);
  const gateway = start(["up", "--port", "0"], { ...options, program: ["mcpx"] });
  await gateway.line(/Ctrl-C stops the gateway/);
  const link = /console (http:\S+)/.exec(gateway.out.join("\n"))?.[1] ?? "";
  const page = await fetch(link);
  expect(page.status, link).toBe(200);
  expect(await page.text()).toContain("<title>mcpx");

  putServerWithinReach();
  const isQuiet = (command: string) => /^mcpx (?:add|tree|call) /.test(`${command} `);
  for (const command of then.filter(isQuiet)) {
    // Nobody is here to be asked.
    const said = machine.run("sh", ["-c", command.startsWith("mcpx call") ? `${command} --yes` : command]);
    if (command.startsWith("mcpx tree")) expect(said).toMatch(/everything\s+\d+ tools/);
    if (command.startsWith("mcpx call")) expect(said).toContain("Echo: hi");
  }
  expect(then.filter(isQuiet)).toHaveLength(3);
  gateway.kill("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
});

test("the manual pages are where man looks", () => {
  const pages = readdirSync(join(machine.home, "prefix", "share", "man", "man1"));
  expect(pages).toEqual(expect.arrayContaining(["mcpx.1", "mcpx-up.1", "mcpx-token-list.1"]));
});

test("what is installed stays in its budget, and the SBOM lists all of it", () => {
  const { packages, bytes } = installedIn(join(machine.modules, "mcpx"));
  expect(packages.length).toBeLessThanOrEqual(budget.packages);
  expect(bytes).toBeLessThanOrEqual(budget.bytes);
  const sbom = JSON.parse(readFileSync(join(release, "sbom.cdx.json"), "utf8"));
  const listed = [sbom.metadata.component, ...sbom.components] as { name: string }[];
  // By name: what packages of others need, npm takes in the newest version they allow.
  expect(listed.map(({ name }) => name).sort()).toEqual(
    packages.map((one) => one.replace(/@[^@]*$/, "")).sort(),
  );
});

test("a release has a tarball for each package, with licence and README, and true checksums", () => {
  const sums = readFileSync(join(release, "SHA256SUMS"), "utf8").trimEnd().split("\n");
  for (const [sum, file] of sums.map((line) => line.split("  "))) {
    const bytes = readFileSync(join(release, file ?? ""));
    expect(createHash("sha256").update(bytes).digest("hex"), file).toBe(sum);
  }
  const tarballs = readdirSync(release).filter((file) => file.endsWith(".tgz"));
  const named = sums.map((line) => line.split("  ")[1]);
  expect(named).toEqual([...tarballs, "CHANGES.md", "sbom.cdx.json"].sort());
  expect(tarballs).toHaveLength(10);
  for (const file of tarballs) {
    const entries = execFileSync("tar", ["tzf", join(release, file)], { encoding: "utf8" }).split("\n");
    expect(entries, file).toEqual(expect.arrayContaining(["package/LICENSE", "package/README.md"]));
    expect(
      entries.filter((entry) => /\/src\/|\.test\.|\.map$/.test(entry)),
      file,
    ).toEqual([]);
  }
});

test("every package has types that say something", () => {
  const folder = join(machine.home, "typed");
  mkdirSync(folder);
  symlinkSync(join(machine.modules, "mcpx", "node_modules"), join(folder, "node_modules"));
  const paths = readdirSync(join(machine.modules, "mcpx", "node_modules", "@mcpx")).map(
    (name) => `@mcpx/${name}`,
  );
  const clients = ["adapters", "guard", "node", "signing", "subserver"].map((name) => `@mcpx/client/${name}`);
  const imports = [...paths, ...clients].map(
    (path, n) => `import * as p${n} from "${path}";\nconst c${n}: 1 = p${n};\n`,
  );
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(folder, "use.ts"), imports.join(""));
  const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
  const tsc = join(root, "node_modules", ".bin", "tsc");
  // Each assignment is refused, for what a namespace has is known; a module without types would be taken for anything.
  const said = failing(() => machine.run(tsc, [...options, ...types, "use.ts"], folder)).split("\n");
  expect(said.filter((line) => line.includes("error TS2322"))).toHaveLength(imports.length);
  expect(said.filter((line) => line.includes("error") && !line.includes("TS2322"))).toEqual([]);
});

function failing(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return String((error as { stdout?: string }).stdout);
  }
}
