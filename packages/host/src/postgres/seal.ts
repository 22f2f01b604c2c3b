// Secrets that an engine keeps for us, sealed with a key that is not in it: who has the engine, or a backup of it, has
// no secret. Each is bound to its place, so that none can be put where another was.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

export interface Seal {
  /** `place` says which secret this is: table, column and key of its row. */
  close(secret: string, place: string): string;
  /** Throws a plain error where it was sealed with another key, for another place, or changed. */
  open(sealed: string, place: string): string;
}

const sealKeyBytes = 32;
const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const version = "s1.";

/** `key`: of at least 32 random bytes. */
export function createSeal(key: Uint8Array): Seal {
  if (key.length < sealKeyBytes) throw new Error(`the key of the store has fewer than ${sealKeyBytes} bytes`);
  const own = Buffer.from(hkdfSync("sha256", key, "", "mcpx secrets in a store", sealKeyBytes));
  return {
    close(secret, place) {
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, own, nonce, { authTagLength: tagBytes }).setAAD(
        Buffer.from(place),
      );
      const text = Buffer.concat([sealing.update(secret, "utf8"), sealing.final()]);
      return version + Buffer.concat([nonce, sealing.getAuthTag(), text]).toString("base64url");
    },
    open(sealed, place) {
      try {
        const bytes = bytesOf(sealed);
        const opening = createDecipheriv(cipher, own, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        })
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        const text = Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]);
        return text.toString("utf8");
      } catch (cause) {
        throw new Error(`the secret ${place} was sealed with another key, or changed`, { cause });
      }
    },
  };
}

/** One secret has one spelling. */
function bytesOf(sealed: string): Buffer {
  const bytes = Buffer.from(sealed.slice(version.length), "base64url");
  if (version + bytes.toString("base64url") !== sealed) throw new Error("it is not a sealed secret");
  return bytes;
}
