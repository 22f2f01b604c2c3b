// The log: JSON lines for machines, short lines for people; secrets leave by neither.
import { type DestinationStream, destination as fileDestination, type Logger, pino } from "pino";
import { cutSecrets } from "./cut-secrets.ts";
import { prettyLine } from "./pretty-line.ts";

export type { Logger };

export type LogLevel = "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";

export interface LoggerOptions {
  level: LogLevel;
  /** Lines for a terminal instead of JSON. */
  pretty?: boolean;
  /** Standard error unless given: standard output belongs to what a command prints. */
  destination?: DestinationStream;
}

const secretKeys = [
  "authorization",
  "token",
  "ticket",
  "jwk.d",
  "proof",
  "capability",
  "cookie",
  '["set-cookie"]',
  "private_jwk",
];

const redactedPaths = secretKeys.flatMap((key) => {
  const joined = key.startsWith("[") ? key : `.${key}`;
  return [key, `*${joined}`, `*.*${joined}`, `*.*.*${joined}`];
});

export function createLogger(options: LoggerOptions): Logger {
  const sink = options.destination ?? fileDestination({ fd: 2, sync: true });
  const stream = options.pretty ? { write: (line: string) => sink.write(prettyLine(line)) } : sink;
  return pino(
    {
      level: options.level,
      base: null,
      redact: { paths: redactedPaths, censor: "[secret]" },
      // Key paths only find secrets where we expect them; this finds tokens anywhere in the finished line.
      hooks: { streamWrite: cutSecrets },
    },
    stream,
  );
}
