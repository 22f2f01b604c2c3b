// npm run release -- [--dry] [--out DIRECTORY] [--repository URL]: everything a release consists of, in release/: the
// tarballs, an SBOM, checksums, and what the changelog says. Fails where versions do not agree. It publishes nothing: it
// prints how. `--dry` is for trying it: changes that are not committed, a section without a date and an unknown
// repository are then only said.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { sectionOf } from "./release/changelog-section.ts";
import { closure } from "./release/closure.ts";
import { inconsistencies, type Repository } from "./release/inconsistencies.ts";
import { makePackages } from "./release/make-packages.ts";
import type { Lock, Manifest } from "./release/manifest.ts";
import { sbom } from "./release/sbom.ts";
import { serverJson } from "./release/server-json.ts";

const root = dirname(import.meta.dirname);
const { values } = parseArgs({
  options: { dry: { type: "boolean" }, out: { type: "string" }, repository: { type: "string" } },
});
const target = resolve(values.out ?? join(root, "release"));

const read = (path: string) => readFileSync(join(root, path), "utf8");
const readManifest = (path: string) => JSON.parse(read(path)) as Manifest;

function readRepository(): Repository {
  const paths = globSync("packages/*/package.json", { cwd: root }).sort();
  return {
    root: readManifest("package.json"),
    packages: new Map(paths.map((path) => [basename(dirname(path)), readManifest(path)])),
    lock: (JSON.parse(read("package-lock.json")) as { packages: Lock }).packages,
    changelog: read("CHANGELOG.md"),
  };
}

/** What only a true release needs. */
function unready({ root: { version }, changelog }: Repository, repository: string | undefined): string[] {
  const changed = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
  const released = sectionOf(changelog, version)?.released ?? "";
  return [
    ...(changed === "" ? [] : ["there are changes that are not committed"]),
    ...(/^\d{4}-\d{2}-\d{2}$/.test(released)
      ? []
      : [`CHANGELOG.md says "${released}" of ${version}, not a date`]),
    ...(repository === undefined ? ["nobody knows the repository: name it with --repository https://…"] : []),
  ];
}

function readRepositoryUrl(): string | undefined {
  const url = values.repository?.replace(/(\.git)?\/?$/, "");
  if (url !== undefined && !/^https:\/\/[\w.-]+\/[\w./-]+$/.test(url))
    throw new Error(`--repository ${url} is not an address like https://example.org/owner/mcpx`);
  return url;
}

function refuse(faults: readonly string[]): void {
  for (const fault of faults) process.stderr.write(`release: ${fault}\n`);
  process.exitCode = 1;
}

function make(all: Repository, repository: string | undefined): void {
  const { version } = all.root;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), "mcpx-release-"));
  try {
    const tarballs = makePackages({ root, scratch, packages: all.packages, target, repository });
    writeFileSync(join(target, "sbom.cdx.json"), sbom(version, closure(all.lock, "packages/mcpx")));
    writeFileSync(join(target, "CHANGES.md"), sectionOf(all.changelog, version)?.text ?? "");
    const listing = writeListing(all, repository);
    const files = [...tarballs, "sbom.cdx.json", "CHANGES.md", ...listing].sort();
    const sums = files.map((file) => `${sha256(join(target, file))}  ${file}\n`);
    writeFileSync(join(target, "SHA256SUMS"), sums.join(""));
    process.stdout.write(`${sums.join("")}release: ${version} is in ${target}\n`);
    if (values.dry !== true)
      process.stdout.write(`release: publish it with: npm publish ${target}/*.tgz, one by one\n`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** For the MCP registry, which lists what is on GitHub. */
function writeListing({ packages }: Repository, repository: string | undefined): string[] {
  const front = packages.get("mcpx");
  const text = front && repository && serverJson(front, repository);
  if (!text) return [];
  writeFileSync(join(target, "server.json"), text);
  return ["server.json"];
}

function sha256(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

const all = readRepository();
const repository = readRepositoryUrl();
const faults = inconsistencies(all);
const missing = unready(all, repository);
if (faults.length > 0) refuse(faults);
else if (missing.length > 0 && values.dry !== true) refuse(missing);
else {
  for (const one of missing) process.stderr.write(`release: (only tried) ${one}\n`);
  make(all, repository);
}
