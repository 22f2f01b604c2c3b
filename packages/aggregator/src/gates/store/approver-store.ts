// Who was enrolled to decide about gates, each with one key or passkey. Siblings: memory, files.
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

export interface ApproverStore {
  /** By name. Throws plainly where one of them cannot be read. */
  list(): Promise<Approver[]>;
  /** Throws `id_conflict` where somebody has the name, in whatever case. */
  add(approver: Approver): Promise<void>;
  /** Says whether there was such an approver; from now on there is none. */
  remove(name: string): Promise<boolean>;
  /** What a passkey has counted; it never goes back, and brings back nobody who is gone. */
  keepCounter(name: string, counter: number): Promise<void>;
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
