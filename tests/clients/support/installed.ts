// Packages that are too large to be installed with us: from npm, into a folder of their own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** `variable` names a folder that has them already. */
export function installClients(packages: readonly string[], variable = "MCPX_CLIENTS_DIR"): string {
  const given = process.env[variable];
  if (given !== undefined) return given;
  const dir = mkdtempSync(join(tmpdir(), "mcpx-installed-"));
  writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }));
  // Peers they name are not all published in versions that fit.
  const words = ["install", "--no-audit", "--no-fund", "--legacy-peer-deps", ...packages];
  execFileSync("npm", words, { cwd: dir, stdio: "inherit" });
  return dir;
}

/** biome-ignore lint/suspicious/noExplicitAny: its types are not installed */
export async function load(dir: string, name: string): Promise<any> {
  const path = createRequire(join(dir, "package.json")).resolve(name);
  return import(/* @vite-ignore */ pathToFileURL(path).href);
}
