// What two gateways say to each other, sealed: nobody between them can read, change, drop, repeat or reorder it. Both
// know the cluster's secret; the keys of a connection come from it and from what each side has made up for this
// connection, so nothing of an earlier one fits.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

export interface PeerCipher {
  seal(message: Buffer): Buffer;
  /** Throws where it is not the next message of the other side. */
  open(sealed: Buffer): Buffer;
}

/** What each side says at the start, as text: it holds a nonce of its own. */
export interface Hellos {
  dialler: string;
  listener: string;
}

const cipher = "aes-256-gcm";
const keyBytes = 32;
const tagBytes = 16;
const nonceBytes = 12;

/** Proves to the other side that this text was made by a holder of the secret. */
export function proofOf(secret: Uint8Array, ...texts: readonly string[]): string {
  const mac = createHmac("sha256", secret);
  // With their lengths: two texts can not be divided in another place.
  for (const text of ["mcpx peer", ...texts]) mac.update(`${Buffer.byteLength(text)}:${text}`);
  return mac.digest("base64url");
}

export function isProof(given: string | undefined, secret: Uint8Array, ...texts: readonly string[]): boolean {
  const [own, theirs] = [Buffer.from(proofOf(secret, ...texts)), Buffer.from(given ?? "")];
  return own.length === theirs.length && timingSafeEqual(own, theirs);
}

export function createPeerCipher(
  secret: Uint8Array,
  { dialler, listener }: Hellos,
  side: keyof Hellos,
): PeerCipher {
  const keyOf = (from: keyof Hellos) =>
    Buffer.from(
      hkdfSync("sha256", secret, proofOf(secret, dialler, listener), `mcpx peer ${from}`, keyBytes),
    );
  const [ownKey, theirKey] = [keyOf(side), keyOf(side === "dialler" ? "listener" : "dialler")];
  let sent = 0;
  let received = 0;
  return {
    seal(message) {
      const sealing = createCipheriv(cipher, ownKey, nonceOf(sent), { authTagLength: tagBytes });
      sent += 1;
      return Buffer.concat([sealing.update(message), sealing.final(), sealing.getAuthTag()]);
    },
    open(sealed) {
      if (sealed.length < tagBytes) throw new Error("a message of a peer is too short");
      const end = sealed.length - tagBytes;
      const opening = createDecipheriv(cipher, theirKey, nonceOf(received), { authTagLength: tagBytes });
      opening.setAuthTag(sealed.subarray(end));
      received += 1;
      try {
        return Buffer.concat([opening.update(sealed.subarray(0, end)), opening.final()]);
      } catch (cause) {
        throw new Error("a message of a peer was changed, repeated, or is not the next one", { cause });
      }
    },
  };
}

/** The count of the message: never used twice with one key. */
function nonceOf(count: number): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeBigUInt64BE(BigInt(count), nonceBytes - 8);
  return nonce;
}
