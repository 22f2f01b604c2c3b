// The log: JSON lines for machines, short lines for people; secrets leave by neither.
import { visibleJson } from "@mcpx/protocol";
import {
  type DestinationStream,
  destination as fileDestination,
  type Logger,
  pino,
  stdSerializers,
} from "pino";
import { cutSecrets } from "./cut-secrets.ts";
import { prettyLine } from "./pretty-line.ts";
import { redact } from "./redact.ts";

export type { Logger };

export type LogLevel = "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";

export interface LoggerOptions {
  level: LogLevel;
  /** Lines for a terminal instead of JSON. */
  pretty?: boolean;
  /** Standard error unless given: standard output belongs to what a command prints. */
  destination?: DestinationStream;
}

export function createLogger(options: LoggerOptions): Logger {
  const sink = options.destination ?? fileDestination({ fd: 2, sync: true });
  const stream = options.pretty ? { write: (line: string) => sink.write(prettyLine(line)) } : sink;
  const logger = pino(
    {
      level: options.level,
      base: null,
      // An error's own fields may hold secrets too.
      serializers: { err: (error) => redact(stdSerializers.err(error)) },
      hooks: {
        // The library's own redaction knows a fixed depth only, and cost 50 µs a line.
        logMethod(args, method) {
          method.apply(this, args.map((arg) => redact(arg)) as typeof args);
        },
        // Names only find secrets where we expect them; this finds tokens anywhere in the finished line.
        // Logs are read on terminals: what strangers wrote is escaped, and the line means the same.
        streamWrite: (line) => `${visibleJson(cutSecrets(line).trimEnd())}\n`,
      },
    },
    stream,
  );
  // What a child carries along passes no hook. Children inherit this, so theirs are seen too.
  const { child } = logger;
  logger.child = function (this: unknown, bindings: unknown, childOptions: unknown) {
    return Reflect.apply(child, this, [redact(bindings), childOptions]);
  } as typeof child;
  return logger;
}
