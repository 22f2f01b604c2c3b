// package.json as it is published: without what only a clone has, with the address of the repository, and, in `mcpx`,
// with the packages it brings along. Pure.
import { isOurs, type Manifest } from "./manifest.ts";

export interface Publication {
  /** `https://…`, where the sources are; nobody can know it before there is one. */
  readonly repository?: string | undefined;
  readonly folder: string;
  /** All that are published. */
  readonly packages: readonly Manifest[];
}

export function publishedManifest(manifest: Manifest, publication: Publication): Manifest {
  const { repository, folder, packages } = publication;
  const { scripts: _, devDependencies: __, ...kept } = manifest;
  return {
    ...kept,
    ...(manifest.exports !== undefined && { exports: withoutSources(manifest.exports) }),
    ...(repository !== undefined && {
      repository: { type: "git", url: `git+${repository}.git`, directory: `packages/${folder}` },
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
    }),
    ...(manifest.name === "mcpx" && { ...bringing(packages), ...registryName(repository) }),
    publishConfig: { access: "public" },
  };
}

/** The sources are not in the package: a condition that leads to them would lead nowhere. */
function withoutSources(exports: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(exports).map(([path, target]) => {
      if (typeof target !== "object" || target === null) return [path, target];
      return [path, Object.fromEntries(Object.entries(target).filter(([name]) => name !== "mcpx-source"))];
    }),
  );
}

/** As it lies in the tarball of `mcpx`, which depends on what it needs: what only it asked for npm takes to be there too. */
export function broughtManifest({ dependencies: _, publishConfig: __, ...kept }: Manifest): Manifest {
  return kept as Manifest;
}

/** Ours are in the tarball; what they need is not. */
function bringing(packages: readonly Manifest[]): Pick<Manifest, "dependencies" | "bundleDependencies"> {
  const dependencies = Object.assign({}, ...packages.map((one) => one.dependencies ?? {})) as Record<
    string,
    string
  >;
  return {
    dependencies: Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))),
    bundleDependencies: Object.keys(dependencies).filter(isOurs).sort(),
  };
}

/** The MCP registry asks for this name, and believes it of who owns the repository. */
export function registryName(repository: string | undefined): { mcpName?: string } {
  const match = /^https:\/\/github\.com\/([\w-]+)\/([\w.-]+)$/.exec(repository ?? "");
  return match === null ? {} : { mcpName: `io.github.${match[1]}/${match[2]}` };
}
