// A named filter of the tree with its own dialect: `/mcp/{profile}`.
import type { Dialect } from "../names/dialects.ts";

export interface Profile {
  readonly name: string;
  /** Globs over canonical tool names. */
  readonly tools: readonly string[];
  readonly dialect?: Dialect | undefined;
  /** Three tools that find, describe and call stand for all others. */
  readonly search?: boolean | undefined;
}

/** The profiles as they are now, by name. What is found stays right when they change. */
export type Profiles = ReadonlyMap<string, Profile>;

/** Whether anything changed. */
export function replaceProfiles(kept: Map<string, Profile>, profiles: readonly Profile[]): boolean {
  const names = new Set(profiles.map(({ name }) => name));
  let isChanged = false;
  for (const [name, profile] of kept) {
    if (names.has(name)) continue;
    // Sessions that came in through it see nothing any more.
    Object.assign(profile, { tools: [] });
    kept.delete(name);
    isChanged = true;
  }
  for (const profile of profiles) {
    const known = kept.get(profile.name);
    if (known !== undefined && JSON.stringify(fieldsOf(known)) === JSON.stringify(fieldsOf(profile)))
      continue;
    isChanged = true;
    // The same object: sessions hold it, and what was narrowed is narrower for them at once.
    if (known === undefined) kept.set(profile.name, { ...profile });
    else Object.assign(known, fieldsOf(profile));
  }
  return isChanged;
}

function fieldsOf({ tools, dialect, search }: Profile): Omit<Profile, "name"> {
  return { tools, dialect, search };
}
