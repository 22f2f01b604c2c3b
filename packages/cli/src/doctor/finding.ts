// What a check found, and the shape all checks have.
import type { DoctorWorld } from "./world.ts";

export type State = "ok" | "warning" | "fault";

export interface Finding {
  /** What it is about: a word, or a server's or client's name behind it. */
  about: string;
  state: State;
  text: string;
  /** The command or step that mends it. */
  fix?: string | undefined;
}

export interface Check {
  name: string;
  /** Shown while it runs, where that may take a while. */
  doing?: string;
  run(world: DoctorWorld): Promise<Finding[]> | Finding[];
}

export const ok = (about: string, text: string, fix?: string): Finding => ({ about, state: "ok", text, fix });

export const warning = (about: string, text: string, fix?: string): Finding => ({
  about,
  state: "warning",
  text,
  fix,
});

export const fault = (about: string, text: string, fix?: string): Finding => ({
  about,
  state: "fault",
  text,
  fix,
});

/** `a, b, c and 4 more`. */
export function some(names: readonly string[], max = 5): string {
  const shown = names.slice(0, max).join(", ");
  return names.length <= max ? shown : `${shown} and ${names.length - max} more`;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
