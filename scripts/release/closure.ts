// Every package that comes with one, by the lock file: what an SBOM lists. Optional and peer dependencies are not among
// them: nobody gets those without asking. Pure.
import type { Lock, Locked } from "./manifest.ts";

export interface Component {
  readonly name: string;
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string | undefined;
}

/** By name; the package itself is not among them. */
export function closure(lock: Lock, folder: string): Component[] {
  const found = new Map<string, Component>();
  const visit = (path: string, locked: Locked): void => {
    const optional = locked.optionalDependencies ?? {};
    for (const name of Object.keys({ ...locked.dependencies, ...optional })) {
      const at = resolve(lock, path, name);
      // What is made for one kind of machine is installed there alone.
      if (Object.hasOwn(optional, name) && (at === undefined || lock[at]?.os !== undefined)) continue;
      if (at === undefined) throw new Error(`package-lock.json has no ${name} for ${path}: run npm install`);
      if (found.has(at)) continue;
      const row = lock[at] as Locked;
      found.set(at, { ...row, name, version: row.version ?? "" });
      visit(at, row);
    }
  };
  visit(folder, lock[folder] ?? {});
  return [...found.values()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

const idOf = ({ name, version }: Component) => `${name}@${version}`;

/** As Node looks for it: in `node_modules` here, then in each folder above. A link leads to a folder of ours. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  for (let folder: string | undefined = from; folder !== undefined; folder = above(folder)) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const row = lock[path];
    if (row !== undefined) return row.link === true ? row.resolved : path;
  }
  return undefined;
}

function above(folder: string): string | undefined {
  if (folder === "") return undefined;
  return folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "";
}
