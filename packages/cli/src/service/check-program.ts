// Whether the service may run a program: its user has to reach it, and nobody but root may be able to change it. Else
// a user who can change it is the service. [B-KEY-3]
import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** What is wrong, as a sentence; nothing where it is fine. */
export function programFaults(paths: readonly string[]): string[] {
  const all = new Set(paths.flatMap((path) => withFolders(realpathSync(path))));
  return [...all].flatMap((path) => {
    const { uid, mode } = statSync(path);
    const isSticky = (mode & 0o1000) !== 0;
    if (/^\/(home|root|Users|run\/user)\//.test(`${path}/`)) return [`${path} is in somebody's home`];
    if (uid !== 0) return [`${path} belongs to user ${uid}, who could replace it`];
    if ((mode & 0o022) !== 0 && !isSticky) return [`others than root may write to ${path}`];
    return (mode & 0o005) === 0 ? [`the service's user cannot read ${path}`] : [];
  });
}

function withFolders(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withFolders(parent)];
}
