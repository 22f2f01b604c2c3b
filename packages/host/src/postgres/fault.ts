// What became of a statement that was not answered with rows, by PostgreSQL's own codes.

export type PostgresFaultKind =
  /** There is no connection: nothing was sent. */
  | "unsent"
  /** The connection went away before the answer: it may have been committed. */
  | "lost"
  /** Committed, and a warning says that it may not be as safe as the operator asked for. */
  | "doubtful"
  /** Nothing was changed; the disk has no room. */
  | "full"
  /** Nothing was changed; it may be sent again in a moment. */
  | "busy"
  /** Nothing was changed: another transaction came first. */
  | "conflict"
  /** Nothing was changed: a row with this key is there. */
  | "duplicate"
  /** Nothing was changed, and it would be the same again. */
  | "failed";

export class PostgresFault extends Error {
  readonly kind: PostgresFaultKind;

  constructor(kind: PostgresFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "PostgresFault";
    this.kind = kind;
  }
}

/** The code of an error that the server has sent; undefined of all others. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error && "severity" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Of an error that came while a statement was under way. */
export function faultKind(error: unknown): PostgresFaultKind {
  const code = sqlState(error);
  // A socket that broke, or one that we have cut.
  if (code === undefined) return "lost";
  if (code === "23505") return "duplicate";
  if (code === "53100") return "full";
  if (code === "40001" || code === "40P01") return "conflict";
  // The server ends, or the connection does: at its commit the transaction may have been further than the answer.
  if (code.startsWith("08") || code.startsWith("57P")) return "lost";
  // Out of something, locked, cancelled before the commit, or a primary that has become a replica.
  if (code.startsWith("53") || ["55P03", "57014", "25006"].includes(code)) return "busy";
  return "failed";
}

/** This server will answer no more, or not as a primary: another connection has to be made. */
export function endsConnection({ kind, cause }: PostgresFault): boolean {
  return kind === "lost" || sqlState(cause) === "25006";
}
