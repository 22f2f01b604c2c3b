// One entry of the chain of approvers: what has changed, why that was allowed, and the hash of the entry before. Pure.
// [B-KEY-2]
import { hash } from "node:crypto";
import {
  canonicalJson,
  digestOf,
  type GateTerms,
  isObject,
  type JsonObject,
  type ServerTerms,
} from "@mcpx/protocol";
import type { AuthorityChange } from "./authority-state.ts";

/** Why an entry may stand there. */
const entryKinds = [
  /** What there was when the chain began, or when it first saw a configuration. */
  "adopted",
  /** There was no approver who could have been asked. */
  "open",
  /** Gates hold no less by it. */
  "tightened",
  "signed",
  /** Somebody with the data directory has put all approvers out, because no key was left. */
  "reset",
] as const;
export type EntryKind = (typeof entryKinds)[number];

export interface ChainEntry {
  readonly n: number;
  /** ISO 8601. */
  readonly at: string;
  /** `null` in the first. */
  readonly previous: string | null;
  readonly kind: EntryKind;
  readonly changes: readonly AuthorityChange[];
  /** There where it was signed: what was, and the proofs. */
  readonly terms?: GateTerms;
  readonly proofs?: readonly string[];
}

export interface ChainHead {
  readonly n: number;
  readonly hash: string;
}

/** Why a chain is not valid, and where. */
export class ChainFault extends Error {
  readonly n: number;
  constructor(n: number, why: string) {
    super(`entry ${n} of the chain of approvers: ${why}`);
    this.name = "ChainFault";
    this.n = n;
  }
}

/** In `server` of what is signed: no server of a tree has this identity. */
export const authorityIdentity = "mcpx:gates";
const entryCharsMax = 262_144;
export const entriesMax = 10_000;

export function entryText(entry: ChainEntry): string {
  return canonicalJson(entry);
}

export function entryHash(text: string): string {
  return hash("sha256", text, "base64url");
}

/** What an approver signs: the change, and the very place it gets in the chain. */
export function signedArguments(
  changes: readonly AuthorityChange[],
  { head, what }: { head: ChainHead | undefined; what: readonly string[] },
): JsonObject {
  return {
    what: [...what],
    changes: changes.map(({ key, value }) => ({ key, value })),
    entry: (head?.n ?? -1) + 1,
    after: head?.hash ?? null,
  };
}

/** What a change of this name is called at its gate. */
export async function authorityServer(tool: string): Promise<ServerTerms> {
  return { name: "mcpx", identity: authorityIdentity, tool, definition: await digestOf({ tool }) };
}

/** Throws `ChainFault`. */
export function readEntry(text: string, n: number): ChainEntry {
  const value = parse(text, n);
  const { at, previous, kind, changes, terms, proofs } = value;
  const isKnown = entryKinds.some((known) => known === kind);
  const isWhole =
    value.n === n &&
    typeof at === "string" &&
    !Number.isNaN(Date.parse(at)) &&
    (previous === null || typeof previous === "string") &&
    isKnown &&
    Array.isArray(changes) &&
    changes.every(isChange) &&
    (kind === "signed") === isObject(terms) &&
    (proofs === undefined || (Array.isArray(proofs) && proofs.every((one) => typeof one === "string")));
  if (!isWhole) throw new ChainFault(n, "it is not of the form of an entry");
  return value as unknown as ChainEntry;
}

function parse(text: string, n: number): JsonObject {
  try {
    if (text.length > entryCharsMax) throw new Error("it is too large");
    const value: unknown = JSON.parse(text);
    // One entry has one spelling, and one hash.
    if (isObject(value) && canonicalJson(value) === text) return value;
  } catch {
    // Said below.
  }
  throw new ChainFault(n, "it cannot be read");
}

function isChange(value: unknown): value is AuthorityChange {
  return isObject(value) && typeof value.key === "string" && value.key !== "" && value.value !== undefined;
}
