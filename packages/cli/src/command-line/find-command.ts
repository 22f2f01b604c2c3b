// The command that the words of a command line name. Pure.
import type { ListedCommand } from "../framework/command.ts";
import { commands } from "./commands.ts";

export interface Found {
  listed: ListedCommand | undefined;
  /** What comes after its name. */
  rest: readonly string[];
}

/** The command of the longest name that the words begin with. */
export function findCommand(args: readonly string[]): Found {
  for (const length of [2, 1]) {
    const name = args.slice(0, length).join(" ");
    const listed = commands.find((one) => one.name === name);
    if (listed !== undefined) return { listed, rest: args.slice(length) };
  }
  return { listed: undefined, rest: args };
}
