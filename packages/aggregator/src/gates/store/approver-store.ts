// Who was enrolled to decide about gates, each with one key or passkey. Siblings: files, PostgreSQL.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Anchor } from "../proofs/anchors.ts";
import { type Passkey, readPasskey } from "../proofs/passkey.ts";
import { isApplication } from "../proofs/security-key.ts";

/** Who can sign with it, as far as it was known when it was enrolled. */
const keyKeepings = ["sealed", "ssh-agent", "security-key", "unsealed", "browser"] as const;
export type KeyKeeping = (typeof keyKeepings)[number];

export type Approver =
  | {
      readonly name: string;
      readonly jwk: object;
      readonly kept?: KeyKeeping;
      /** Of a FIDO2 key: what it was made for. */
      readonly application?: string;
    }
  | {
      readonly name: string;
      readonly passkey: Passkey;
      /** It was registered by the person who was logged in at the console, and logs them in again. */
      readonly mayLogIn?: true;
    };

/** An approver as it is written down. */
export interface Enrolment {
  readonly approver: Approver;
  /** Of two, the earlier has the smaller one. */
  readonly since: number;
  /** Its file, or its row. */
  readonly place: string;
}

/** All of one moment, by name. It is another object where anything in it may be another. */
export interface Enrolled {
  readonly approvers: readonly Enrolment[];
  /** These do not count. */
  readonly unreadable: readonly { readonly name: string; readonly place: string; readonly why: string }[];
}

export interface ApproverStore {
  /** Rejects where the store does not answer. */
  list(): Promise<Enrolled>;
  /** Without waiting: of files as they are, of rows as they were read last. */
  known(): Enrolled;
  /** Throws `id_conflict` where somebody has the name, in whatever case. */
  add(approver: Approver): Promise<void>;
  /** Writes down anew somebody who has this name and this key already. Says whether there was one. */
  replace(approver: Extract<Approver, { jwk: object }>): Promise<boolean>;
  /** Says whether there was such an approver; from now on there is none. */
  remove(name: string): Promise<boolean>;
  /** What a passkey has counted; it never goes back, and brings back nobody who is gone. */
  keepCounter(name: string, counter: number): Promise<void>;
}

export const approverBytesMax = 16_384;
export const approversMax = 1_000;

/** What a store has under this name. Throws plainly what is wrong with it. */
export function readEnrolled(name: string, text: string): Approver {
  if (Buffer.byteLength(text) > approverBytesMax) throw tooLarge();
  const value = parse(text);
  if (!isObject(value) || value.name !== name) throw new Error("the name in it is another");
  if (isObject(value.jwk) && "d" in value.jwk)
    throw new Error("a private key must not be here; enrol it again");
  return readApprover(value);
}

export function tooLarge(): Error {
  return new Error(`it is larger than ${approverBytesMax} bytes`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
}

/** The name is a file's name too, so few characters are allowed. */
export function isApproverName(name: unknown): name is string {
  return typeof name === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** Throws plainly where it is none. */
export function readApprover(value: unknown): Approver {
  if (!isObject(value) || !isApproverName(value.name)) throw new Error("an approver needs a name");
  const { name, jwk, passkey, mayLogIn, application } = value;
  const kept = keyKeepings.find((one) => one === value.kept);
  if (application !== undefined && !isApplication(application)) {
    throw new Error("application must be what a security key was made for: ssh:…");
  }
  if (isObject(jwk)) return { name, jwk, ...(kept && { kept }), ...(application && { application }) };
  return { name, passkey: readPasskey(passkey), ...(mayLogIn === true && { mayLogIn }) };
}

export function anchorOf(approver: Approver): Anchor {
  if ("jwk" in approver) return { kind: "key", ...approver };
  const { name, passkey, mayLogIn = false } = approver;
  return { kind: "passkey", name, mayLogIn, ...passkey };
}

/** Who somebody is, in the chain of approvers: without what changes with every use, and what is only told. */
export function approverValue(approver: Approver): JsonObject {
  if ("jwk" in approver) {
    const { name, jwk, application } = approver;
    return { name, jwk: { ...jwk }, ...(application && { application }) };
  }
  const { credentialId, publicKey, rpId, origin } = approver.passkey;
  const passkey = { credentialId, publicKey: { ...publicKey }, rpId, origin };
  return { name: approver.name, passkey, ...(approver.mayLogIn && { mayLogIn: true }) };
}
