// A message for one browser, sealed so that its push service cannot read it (RFC 8291, in the coding of RFC 8188). One
// record: a notification is short.
import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from "node:crypto";

/** What a browser gives with its subscription, in base64url. */
export interface PushKeys {
  /** An uncompressed point of P-256. */
  readonly p256dh: string;
  readonly auth: string;
}

const recordSize = 4_096;
/** What is left of a record for the text: a byte ends it, and sixteen prove it. */
export const pushBytesMax: number = recordSize - 17 - 86;

/** `sender` and `salt` are new for each message; tests give those of the document. */
export function encryptPush(
  { p256dh, auth }: PushKeys,
  text: string,
  sender: ECDH = newSender(),
  salt: Buffer = randomBytes(16),
): Buffer<ArrayBuffer> {
  const plain = Buffer.from(text);
  if (plain.length > pushBytesMax) throw new RangeError(`a push message has at most ${pushBytesMax} bytes`);
  const receiverKey = Buffer.from(p256dh, "base64url");
  const senderKey = sender.getPublicKey();
  const shared = sender.computeSecret(receiverKey);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), receiverKey, senderKey]);
  const secret = derive(shared, Buffer.from(auth, "base64url"), info, 32);
  const key = derive(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derive(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const header = Buffer.alloc(21);
  salt.copy(header);
  header.writeUInt32BE(recordSize, 16);
  header.writeUInt8(senderKey.length, 20);
  const sealed = [cipher.update(plain), cipher.update(Buffer.of(2)), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([header, senderKey, ...sealed]);
}

/** Whether a message could be sealed for it. */
export function arePushKeys({ p256dh, auth }: PushKeys): boolean {
  if (Buffer.from(auth, "base64url").length !== 16) return false;
  try {
    newSender().computeSecret(Buffer.from(p256dh, "base64url"));
    return Buffer.from(p256dh, "base64url").length === 65;
  } catch {
    // The key is not a point of that curve.
    return false;
  }
}

function newSender(): ECDH {
  const sender = createECDH("prime256v1");
  sender.generateKeys();
  return sender;
}

function derive(secret: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, length));
}
