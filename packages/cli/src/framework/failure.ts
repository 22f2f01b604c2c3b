// Faults the user can do something about, and how any error becomes one line on a terminal.
import { visible } from "./visible.ts";

export interface FailureOptions {
  /** 2: the command line itself is wrong. */
  exitCode?: 1 | 2;
  /** Whether the same command may work later. */
  isTemporary?: boolean;
  /** The gateway's word for it. */
  reason?: string | undefined;
  /** Lines below the first one. */
  details?: readonly string[];
  cause?: unknown;
}

/** What went wrong, and the way out: shown as one line, without a stack. */
export class Failure extends Error {
  readonly exitCode: 1 | 2;
  readonly isTemporary: boolean;
  readonly reason: string | undefined;
  readonly details: readonly string[];

  constructor(fault: string, fix?: string, options: FailureOptions = {}) {
    super(fix === undefined ? fault : `${fault}; ${fix}`, { cause: options.cause });
    this.name = "Failure";
    this.exitCode = options.exitCode ?? 1;
    this.isTemporary = options.isTemporary ?? false;
    this.reason = options.reason;
    this.details = options.details ?? [];
  }
}

/** The command line is wrong. */
export function misuse(fault: string, fix?: string): Failure {
  return new Failure(fault, fix, { exitCode: 2 });
}

/** The lines to print for an error of any kind. */
export function failureText(error: unknown, isDebug: boolean): string {
  const details = error instanceof Failure ? error.details : [];
  const lines = [`mcpx: ${visible(faultOf(error))}`, ...details.map((line) => `  ${visible(line)}`)];
  if (isDebug && error instanceof Error && error.stack !== undefined) lines.push(error.stack);
  return `${lines.join("\n")}\n`;
}

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The protocol's own errors; told by their shape, so that no command waits for the protocol that does not need it.
  if ("suggestion" in error && typeof error.suggestion === "string")
    return `${error.message}; ${error.suggestion}`;
  return error.message === "" ? error.name : error.message;
}
