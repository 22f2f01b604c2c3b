// node scripts/build.mjs [DIRECTORY]: compiles every package, ready to publish, to DIRECTORY/NAME/dist; without a
// directory to packages/NAME/dist.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const target = process.argv[2] ?? "packages";
const compiled = mkdtempSync(join(tmpdir(), "mcpx-build-"));

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status === 0) return;
  rmSync(compiled, { recursive: true, force: true });
  process.exit(status ?? 1);
}

run("tsc", ["-p", "tsconfig.build.json", "--outDir", compiled]);
for (const name of readdirSync(compiled)) {
  if (!existsSync(`packages/${name}/package.json`)) continue;
  rmSync(join(target, name, "dist"), { recursive: true, force: true });
  cpSync(join(compiled, name, "src"), join(target, name, "dist"), { recursive: true });
}
rmSync(compiled, { recursive: true, force: true });

// What the conformance kit plays goes out with it.
for (const name of ["transcripts", "vectors"])
  cpSync(`spec/${name}`, join(target, "conform", "dist", name), { recursive: true });

// The web console goes out with the command that serves it.
const console = resolve(target, "console", "dist");
run("vite", ["build", "packages/console", "--logLevel=error", "--emptyOutDir", "--outDir", console]);
cpSync(console, join(target, "cli", "dist", "web"), { recursive: true });
