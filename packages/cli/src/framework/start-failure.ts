// Why the server did not start, in words with a way out.
import { Failure } from "./failure.ts";

export function startFailure(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const failure = (fault: string, fix: string) => new Failure(fault, fix, { cause: error });
  switch (code) {
    case "EADDRINUSE":
      return failure(
        `port ${port} on ${host} is in use`,
        "stop what uses it, or take any free one with --port 0",
      );
    case "EACCES":
      return failure(
        `port ${port} on ${host} is not allowed to this user`,
        "take one above 1023, such as --port 6279",
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return failure(`${host} is not an address of this machine`, "use --host 127.0.0.1, or 0.0.0.0 for all");
    default:
      return error;
  }
}
