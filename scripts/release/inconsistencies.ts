// What keeps a version from being released: packages that do not agree with each other, with the lock file or with the
// changelog. Pure.
import { sectionOf } from "./changelog-section.ts";
import { isOurs, type Lock, type Manifest } from "./manifest.ts";

export interface Repository {
  readonly root: Manifest;
  /** Those of `packages/`, by folder. */
  readonly packages: ReadonlyMap<string, Manifest>;
  readonly lock: Lock;
  readonly changelog: string;
}

/** One sentence for each; none when all is well. */
export function inconsistencies({ root, packages, lock, changelog }: Repository): string[] {
  const { version } = root;
  const faults = [...packages].flatMap(([folder, manifest]) => [
    ...faultsOf(`packages/${folder}/package.json`, manifest, version),
    ...lockFaults(`packages/${folder}`, lock, version),
  ]);
  if (lock[""]?.version !== version)
    faults.push(`package-lock.json has version ${lock[""]?.version} and package.json ${version}`);
  if (sectionOf(changelog, version) === undefined) faults.push(`CHANGELOG.md has no section "## ${version}"`);
  return [...faults, ...differentPins(packages)];
}

function faultsOf(path: string, manifest: Manifest, version: string): string[] {
  const faults: string[] = [];
  if (manifest.version !== version)
    faults.push(`${path} has version ${manifest.version} and package.json ${version}`);
  for (const [name, wanted] of Object.entries(manifest.dependencies ?? {})) {
    if (isOurs(name) && wanted !== version)
      faults.push(`${path} depends on ${name} ${wanted}, not ${version}`);
    if (!/^\d+\.\d+\.\d+$/.test(wanted))
      faults.push(`${path} depends on ${name} ${wanted}: name one version`);
  }
  if (manifest.private === true) return faults;
  for (const key of ["description", "license", "engines", "exports", "files"] as const)
    if (manifest[key] === undefined) faults.push(`${path} has no "${key}"`);
  return faults;
}

function lockFaults(path: string, lock: Lock, version: string): string[] {
  const locked = lock[path]?.version;
  return locked === version
    ? []
    : [`package-lock.json has ${path} at ${locked}, not ${version}: run npm install`];
}

/** The same package in two versions would be installed twice. */
function differentPins(packages: ReadonlyMap<string, Manifest>): string[] {
  const published = [...packages.values()].filter((manifest) => manifest.private !== true);
  const pins = published.flatMap(({ dependencies = {} }) => Object.entries(dependencies));
  return [...Map.groupBy(pins, ([name]) => name)]
    .map(([name, rows]) => [name, [...new Set(rows.map(([, version]) => version))]] as const)
    .filter(([, versions]) => versions.length > 1)
    .map(([name, versions]) => `packages depend on ${name} in several versions: ${versions.join(", ")}`);
}
