// Why a room is over for us, or would not do what was asked, as a line for people.
import { closeCodes, errorTable, type Reason } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";

interface Meaning {
  code: number;
  fault: string;
  fix: string;
}

/** By the client's word for a close code that says: do not come back. */
const meanings: Readonly<Record<string, Meaning>> = {
  bad_frame: {
    code: closeCodes.badFrame,
    fault: "the gateway refused the connection: it could not read this program's messages",
    fix: "check that it is a gateway of this version",
  },
  unauthorised: {
    code: closeCodes.unauthorised,
    fault: "the token is no longer valid",
    fix: "get a new one with mcpx token",
  },
  kicked: { code: closeCodes.forbidden, fault: "the gateway refused the connection", fix: "ask an admin" },
  unsupported_protocol: {
    code: closeCodes.unsupportedProtocol,
    fault: "the gateway does not speak mcpx/v0.1",
    fix: "use a newer one",
  },
  replaced: {
    code: closeCodes.replaced,
    fault: "another connection took this id's place",
    fix: "use another --id",
  },
  too_many_faults: {
    code: closeCodes.abuse,
    fault: "the gateway closed the connection after too many faults",
    fix: "wait, then try again",
  },
};

const tokenEnds: Readonly<Record<string, string>> = {
  token_revoked: "the token was revoked",
  token_expired: "the token has expired",
};

/** The line for a close code that says: do not come back. */
export function endFailure({ code, reason }: { code: number; reason: string }): Failure {
  const meaning = Object.values(meanings).find((one) => one.code === code);
  const { fault, fix } = meaning ?? { fault: "the gateway ended the connection", fix: "try again later" };
  const known = Object.hasOwn(tokenEnds, reason) ? tokenEnds[reason] : undefined;
  const why = known === undefined && reason !== "" ? `${reason}, ${code}` : String(code);
  return new Failure(`${known ?? fault} (${why})`, fix);
}

/** The failure for the reason with which a room was closed. */
export function closedFailure(reason: string | undefined): Failure {
  const meaning = reason !== undefined && Object.hasOwn(meanings, reason) ? meanings[reason] : undefined;
  if (meaning === undefined) return new Failure(`the room was closed (${reason ?? "no reason"})`);
  return new Failure(`${meaning.fault} (${meaning.code})`, meaning.fix);
}

/** What the client could not do. Errors of other kinds stay as they are. */
export function roomFailure(error: unknown): unknown {
  if (!(error instanceof Error) || !("reason" in error) || typeof error.reason !== "string") return error;
  const { reason, message } = error;
  const isKnown = Object.hasOwn(errorTable, reason);
  return new Failure(message, isKnown ? errorTable[reason as Reason].suggestion : undefined, {
    cause: error,
  });
}
