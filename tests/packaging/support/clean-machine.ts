// A machine that has Node and npm, and nothing of this repository: packages are installed there from tarballs.
import { execFileSync } from "node:child_process";
import { globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = dirname(dirname(dirname(import.meta.dirname)));
const repositoryBins = join(root, "node_modules");

/** How a machine reaches the registry of packages is its own affair. */
const leadsOut = /_proxy$|^npm_config_(?!prefix|global)|^NODE_EXTRA_CA_CERTS$|^SSL_CERT_/i;

/** An installation that takes longer is stuck. */
const runMsMax = 120_000;

export interface CleanMachine {
  readonly home: string;
  /** Where `npm install -g` puts packages. */
  readonly modules: string;
  /** Nothing of our own environment but where npm gets its packages from. */
  readonly env: Record<string, string>;
  /** Runs a program to its end; throws with what it said when it fails. */
  run(command: string, args: readonly string[], cwd?: string): string;
  remove(): void;
}

export function cleanMachine(): CleanMachine {
  const home = mkdtempSync(join(tmpdir(), "mcpx-clean-"));
  const prefix = join(home, "prefix");
  const bins = join(home, "bin");
  mkdirSync(bins);
  const others = (process.env.PATH ?? "").split(":").filter((dir) => !dir.startsWith(repositoryBins));
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) =>
        leadsOut.test(name) ? [[name, value ?? ""]] : [],
      ),
    ),
    HOME: home,
    NO_COLOR: "1",
    PATH: [bins, join(prefix, "bin"), dirname(process.execPath), ...others].join(":"),
    npm_config_prefix: prefix,
    npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), ".npmrc"),
    npm_config_cache: process.env.npm_config_cache ?? join(homedir(), ".npm"),
    npm_config_update_notifier: "false",
  };
  return {
    home,
    modules: join(prefix, "lib", "node_modules"),
    env,
    run: (command, args, cwd = home) =>
      execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: "pipe", timeout: runMsMax }),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** `name@version` of each package that was installed with the one in this folder, itself included, and all their bytes. */
export function installedIn(folder: string): { packages: string[]; bytes: number } {
  const below = globSync("**/node_modules/{*,@*/*}/package.json", { cwd: folder });
  const packages = ["package.json", ...below]
    .map((path) => JSON.parse(readFileSync(join(folder, path), "utf8")) as { name: string; version: string })
    .map(({ name, version }) => `${name}@${version}`);
  const files = globSync("**", { cwd: folder }).map((path) => lstatSync(join(folder, path)));
  const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  return { packages: packages.sort(), bytes };
}
