// What people are told about a configuration that counts only after it was accepted. Pure.
import { homedir } from "node:os";
import { join } from "node:path";
import { Failure } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";

/** The word by which a configuration that was never accepted is told from a faulty one. */
export const notAcceptedReason = "config_not_accepted";

/** The command that accepts it, ready to be pasted. */
export function trustCommand(path: string, dataDir: string): string {
  const isUsual = dataDir === join(homedir(), ".local", "share", "mcpx");
  return `mcpx trust ${shellWord(path)}${isUsual ? "" : ` --data ${shellWord(dataDir)}`}`;
}

export function notAccepted(path: string, dataDir: string): Failure {
  return new Failure(
    `${path} is not used: it was found in the working directory, and nobody has accepted it`,
    `see what it starts and accept it with \`${trustCommand(path, dataDir)}\`, or name the configuration you mean with --config FILE`,
    { reason: notAcceptedReason },
  );
}

/** The accepted text is in force meanwhile. */
export function waitingText(path: string, dataDir: string): string {
  return `${path} has changed since it was accepted: what was accepted stays in force until \`${trustCommand(path, dataDir)}\``;
}
