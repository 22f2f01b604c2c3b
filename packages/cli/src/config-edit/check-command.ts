// Whether a server's command is there, before it is written down: looked for as it would be when it is started.
import { resolve } from "node:path";
import { type FillInFrom, fillIn } from "../files/fill-in.ts";
import { Failure } from "../framework/failure.ts";
import { findCommand } from "../framework/find-program.ts";
import type { ServerEntry } from "./edit-config.ts";

export function checkCommand(
  { command, args = [], cwd = ".", env = {} }: ServerEntry,
  from: FillInFrom,
): void {
  if (command === undefined) return;
  const path = env.PATH === undefined ? from.env.PATH : fillIn(env.PATH, from);
  const found = findCommand(fillIn(command, from), { path, cwd: resolve(from.dir, fillIn(cwd, from)) });
  if (typeof found === "object") return;
  const anyway = "--force writes it anyway";
  if (found === "not executable") {
    throw new Failure(`nothing was written: ${command} may not be executed`, `chmod +x it; ${anyway}`);
  }
  if (args.length > 0) {
    throw new Failure(
      `nothing was written: ${command} is not there or not on PATH`,
      `install it, or give its full path; ${anyway}`,
    );
  }
  throw new Failure(
    `nothing was written: ${command} is neither a whole URL nor a command that is there or on PATH`,
    `write a whole URL (https://…), or \`-- ${command}\` for a command once it is installed; ${anyway}`,
  );
}
