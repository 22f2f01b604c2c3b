// Who has credentials of their own at a server. Pure.
import type { Caller } from "../../mcp/exchange.ts";

export interface Person {
  /** The principal's id. */
  readonly name: string;
  /** Who says so; see `isSamePerson`. */
  readonly issuer: string;
}

/** Of calls that were approved after their caller left: their principal is one of ours, and its id was proven before. */
const ourOwn = "local";

/** Nobody where the token has no id, since nothing could be kept for it; nor for a tree above, behind which are many. */
export function personOf({
  principal,
  isParent,
}: Pick<Caller, "principal" | "isParent">): Person | undefined {
  const { id, issuer } = principal;
  return isParent === true || id === undefined || id === "" ? undefined : { name: id, issuer };
}

/** It acts for a user who is not there: it uses what that user has signed in to, and signs in to nothing. */
export function isActing({ issuer }: Person): boolean {
  return issuer === ourOwn;
}

/** An id belongs to one issuer at a time. Where that changes, the next one's `alice` is not the last one's. */
export function isSamePerson(userIssuer: string, person: Person): boolean {
  return isActing(person) || person.issuer === userIssuer;
}
