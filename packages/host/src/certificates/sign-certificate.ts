// The form of an X.509 certificate, whatever stands in it: its parts in their order, signed with ECDSA and SHA-256.
import { createPublicKey, hash, type KeyObject, randomBytes, sign } from "node:crypto";
import { bits, der, integer, isTrue, objectId, octets, partsOf, sequence, setOf, time, utf8 } from "./der.ts";

export interface CertificateContent {
  issuer: Uint8Array;
  subject: Uint8Array;
  publicKey: KeyObject;
  extensions: readonly Uint8Array[];
  from: Date;
  until: Date;
}

export type CertificateUse = "server" | "client";

const ids = {
  ecdsaWithSha256: objectId("1.2.840.10045.4.3.2"),
  commonName: objectId("2.5.4.3"),
  subjectKeyId: objectId("2.5.29.14"),
  keyUsage: objectId("2.5.29.15"),
  altName: objectId("2.5.29.17"),
  basicConstraints: objectId("2.5.29.19"),
  authorityKeyId: objectId("2.5.29.35"),
  extendedKeyUsage: objectId("2.5.29.37"),
  server: objectId("1.3.6.1.5.5.7.3.1"),
  client: objectId("1.3.6.1.5.5.7.3.2"),
};

/** The standard's bound for a common name. */
const commonNameCharsMax = 64;

/** As PEM. */
export function signCertificate(content: CertificateContent, key: KeyObject): string {
  const { issuer, subject, publicKey, extensions, from, until } = content;
  const algorithm = sequence(ids.ecdsaWithSha256);
  const body = sequence(
    // Version 3.
    der(0xa0, integer(Buffer.from([2]))),
    integer(newSerial()),
    algorithm,
    issuer,
    sequence(time(from), time(until)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const whole = sequence(body, algorithm, bits(sign("sha256", body, key)));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

export function commonName(name: string): Buffer {
  return sequence(setOf(sequence(ids.commonName, utf8(name.slice(0, commonNameCharsMax)))));
}

/** One that signs certificates, with no authority below it. */
export function authorityExtensions(publicKey: KeyObject): Buffer[] {
  return [
    critical(ids.basicConstraints, sequence(isTrue, integer(Buffer.from([0])))),
    // keyCertSign and cRLSign.
    critical(ids.keyUsage, bits(Buffer.from([0x06]), 1)),
    extension(ids.subjectKeyId, octets(keyId(publicKey))),
  ];
}

/** One that signs nothing but handshakes, on one side of them. */
export function endExtensions(
  use: CertificateUse,
  altNames: readonly Uint8Array[],
  keys: { publicKey: KeyObject; issuerKey: KeyObject },
): Buffer[] {
  return [
    critical(ids.basicConstraints, sequence()),
    // digitalSignature: all that TLS 1.3 does with a key.
    critical(ids.keyUsage, bits(Buffer.from([0x80]), 7)),
    extension(ids.extendedKeyUsage, sequence(ids[use])),
    extension(ids.altName, sequence(...altNames)),
    extension(ids.subjectKeyId, octets(keyId(keys.publicKey))),
    extension(ids.authorityKeyId, sequence(der(0x80, keyId(createPublicKey(keys.issuerKey))))),
  ];
}

/** 126 bits of chance; the first two say that it is positive and as long as it looks. */
function newSerial(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

/** The first 160 bits of a hash over the key's own bytes. (RFC 7093, 2) */
function keyId(publicKey: KeyObject): Buffer {
  const [, bitString] = partsOf(publicKey.export({ type: "spki", format: "der" }));
  // After tag, length, and the count of unused bits.
  return hash("sha256", bitString?.subarray(3) ?? "", "buffer").subarray(0, 20);
}

function extension(id: Uint8Array, value: Uint8Array): Buffer {
  return sequence(id, octets(value));
}

function critical(id: Uint8Array, value: Uint8Array): Buffer {
  return sequence(id, isTrue, octets(value));
}
