// A named filter of the tree with its own dialect: `/mcp/{profile}`.
import type { Dialect } from "./names/dialects.ts";

export interface Profile {
  readonly name: string;
  /** Globs over canonical tool names. */
  readonly tools: readonly string[];
  readonly dialect?: Dialect | undefined;
}
