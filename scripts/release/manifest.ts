// package.json and package-lock.json, as far as a release reads them.

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license?: string | undefined;
  readonly description?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly files?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly [more: string]: unknown;
}

/** One row of `packages` of the lock file. */
export interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string | undefined;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** The systems it is made for; all unless given. */
  readonly os?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export type Lock = Readonly<Record<string, Locked>>;

/** Ours is every package of this name. */
export function isOurs(name: string): boolean {
  return name === "mcpx" || name.startsWith("@mcpx/");
}
