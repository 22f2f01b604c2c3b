// How a server came into the tree, and what only servers that came this way have. Pure.
import type { AuthScope, JsonObject, McpxError, RegistrationCapabilities } from "@mcpx/protocol";
import type { AwaitedAuthorisation } from "./awaited-authorisation.ts";
import type { Personal } from "./users/sign-in-state.ts";

/** A server that registered itself. */
export interface Registered {
  readonly kind: "registered";
  readonly subserverId: string;
  /** Since when (wall clock), and as much of the session's id as is shown. */
  readonly session: { readonly id: string; readonly registeredAt: number };
  /** Whose share of memory its lists and pins take. */
  readonly payer: string;
  /** It is neither configured nor marked as trusted: its word goes only where it is asked. [B-REG-1] */
  readonly isGuest: boolean;
  readonly isTree: boolean;
  /** Tools that want more than this are not listed. [AX-10.2-1] */
  readonly scope: AuthScope;
  /** What may be asked of it, whatever it says itself. [AX-6.1-2] */
  readonly declared: Readonly<RegistrationCapabilities>;
  /** Why nothing may be dispatched to it at this moment. */
  refusal(): McpxError | undefined;
  /** What is known of its registration, for `mcpax.status`. */
  describe(): JsonObject;
}

export type ServerOrigin =
  /** By the operator: a child or an address, with whatever has to authorise it for everybody. */
  | { readonly kind: "configured"; readonly awaited?: AwaitedAuthorisation | undefined }
  | Registered
  /** A room of this process, as the operator has configured it. */
  | { readonly kind: "room"; readonly room: string }
  /** A room in which one caller has a connection; `payer` is that caller. */
  | { readonly kind: "roomConnection"; readonly payer: string }
  /** A part of ourselves. */
  | { readonly kind: "built-in" }
  /** Everybody uses it in their own name: it only stands for what each user has of it; see `ensureServerFor`. */
  | { readonly kind: "per-user"; readonly personal: Personal }
  /** What one user has of a server that is one for each. */
  | { readonly kind: "user"; readonly user: string }
  /** What a user has of it before signing in: the place to do so. `undefined` for callers who are no user. */
  | { readonly kind: "sign-in"; readonly user: string | undefined };

interface Originated {
  readonly origin: ServerOrigin;
}

export function registeredOf({ origin }: Originated): Registered | undefined {
  return origin.kind === "registered" ? origin : undefined;
}

export function isGuest(server: Originated): boolean {
  return registeredOf(server)?.isGuest === true;
}

/** It has one conversation for everybody, and nobody can be asked in it unless its era tells whom. */
export function isShared({ origin: { kind } }: Originated): boolean {
  return kind === "registered" || kind === "room" || kind === "roomConnection" || kind === "built-in";
}

export function personalOf({ origin }: Originated): Personal | undefined {
  return origin.kind === "per-user" ? origin.personal : undefined;
}

/** Whose it is, where it is one user's. */
export function userOf({ origin }: Originated): string | undefined {
  return origin.kind === "user" || origin.kind === "sign-in" ? origin.user : undefined;
}

/** The principal whose share of memory the server's lists take; none where that is the operator's. */
export function payerOf({ origin }: Originated): string | undefined {
  return origin.kind === "registered" || origin.kind === "roomConnection" ? origin.payer : undefined;
}
