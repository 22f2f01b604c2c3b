// The tarballs of all packages that are published: compiled, put together in a folder of their own, packed by npm.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "./manifest.ts";
import { broughtManifest, publishedManifest } from "./published-manifest.ts";

export interface Making {
  readonly root: string;
  /** Empty, outside of the repository. */
  readonly scratch: string;
  readonly packages: ReadonlyMap<string, Manifest>;
  readonly repository?: string | undefined;
  /** Where the tarballs go. */
  readonly target: string;
}

/** Their file names. */
export function makePackages(making: Making): string[] {
  const { root, scratch, packages, target } = making;
  run("node", ["scripts/build.mjs", scratch], root);
  const published = [...packages].filter(([, manifest]) => manifest.private !== true);
  for (const [folder, manifest] of published) putTogether(making, folder, manifest);
  writeManPages(making);
  // `mcpx` brings the others with it, so that its tarball installs alone.
  for (const [folder, manifest] of published.filter(([, { name }]) => name !== "mcpx")) {
    const inside = join(scratch, "mcpx", "node_modules", manifest.name);
    cpSync(join(scratch, folder), inside, { recursive: true });
    writeManifest(inside, broughtManifest(publishedOf(making, folder, manifest)));
  }
  const folders = published.map(([folder]) => `./${folder}`);
  const said = run(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", target, ...folders],
    scratch,
  );
  return packed(said);
}

function putTogether(making: Making, folder: string, manifest: Manifest): void {
  const { root, scratch } = making;
  const from = join(root, "packages", folder);
  const to = join(scratch, folder);
  mkdirSync(to, { recursive: true });
  writeManifest(to, publishedOf(making, folder, manifest));
  cpSync(join(root, "LICENSE"), join(to, "LICENSE"));
  for (const file of ["README.md", ...(manifest.files ?? [])].filter((name) => name !== "dist")) {
    if (!existsSync(join(from, file))) throw new Error(`packages/${folder} has no ${file}`);
    cpSync(join(from, file), join(to, file), { recursive: true });
  }
}

/** `npm install -g mcpx` puts them where `man` looks. */
function writeManPages({ root, scratch }: Making): void {
  const folder = join(scratch, "mcpx");
  run("node", ["--conditions=mcpx-source", "scripts/man-pages.ts", join(folder, "man")], root);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const man = readdirSync(join(folder, "man")).sort();
  writeManifest(folder, {
    ...manifest,
    files: [...(manifest.files ?? []), "man"],
    man: man.map((file) => `./man/${file}`),
  });
}

function publishedOf({ repository, packages }: Making, folder: string, manifest: Manifest): Manifest {
  const published = [...packages.values()].filter((one) => one.private !== true);
  return publishedManifest(manifest, { folder, repository, packages: published });
}

function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** npm names them in a list, newer ones by package. */
function packed(json: string): string[] {
  const rows = JSON.parse(json) as { filename: string }[] | Record<string, { filename: string }>;
  return Object.values(rows).map(({ filename }) => filename);
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stdout + stderr}`);
  return stdout;
}
