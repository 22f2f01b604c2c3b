// Compiles every package to its own dist/, ready to publish.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
for (const name of readdirSync("dist")) {
  const target = `packages/${name}/dist`;
  if (!existsSync(`packages/${name}/package.json`)) continue;
  rmSync(target, { recursive: true, force: true });
  cpSync(`dist/${name}/src`, target, { recursive: true });
}
rmSync("dist", { recursive: true, force: true });

// What the conformance kit plays goes out with it.
for (const name of ["transcripts", "vectors"])
  cpSync(`spec/${name}`, `packages/conform/dist/${name}`, { recursive: true });

// The web console goes out with the command that serves it.
const page = spawnSync("vite", ["build", "packages/console", "--logLevel=error"], { stdio: "inherit" });
if (page.status !== 0) process.exit(page.status ?? 1);
cpSync("packages/console/dist", "packages/cli/dist/web", { recursive: true });
