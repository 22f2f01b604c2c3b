// Certificates for TLS between aggregators: a small authority, and what it signs for servers and clients. P-256 keys
// throughout. Nothing is read or written here. [AX-10.4-1]
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { isDnsName } from "../dns-name.ts";
import { addressBytes } from "./address-bytes.ts";
import { der, partsOf } from "./der.ts";
import {
  authorityExtensions,
  type CertificateUse,
  commonName,
  endExtensions,
  signCertificate,
} from "./sign-certificate.ts";

/** PEM texts. */
export interface CertificatePair {
  cert: string;
  key: string;
}

export interface AuthorityWish {
  /** For people; nothing is decided by it. */
  name: string;
  from: Date;
  until: Date;
}

export interface CertificateWish {
  use: CertificateUse;
  /** DNS names in lower case, and IP addresses. */
  names: readonly string[];
  from: Date;
  /** Its authority's own end, where that comes first. */
  until: Date;
}

/** One that signs certificates, but no further authorities. */
export function makeAuthority({ name, from, until }: AuthorityWish): CertificatePair {
  const { publicKey, privateKey } = newKeys();
  const subject = commonName(name);
  const extensions = authorityExtensions(publicKey);
  const cert = signCertificate({ issuer: subject, subject, publicKey, extensions, from, until }, privateKey);
  return { cert, key: pemOf(privateKey) };
}

/** Throws plainly where a name is none, or the authority is none of `makeAuthority`. */
export function makeCertificate(wish: CertificateWish, authority: CertificatePair): CertificatePair {
  const { use, names, from } = wish;
  const issuer = new X509Certificate(authority.cert);
  const issuerKey = createPrivateKey(authority.key);
  const { publicKey, privateKey } = newKeys();
  const content = {
    issuer: subjectOf(issuer),
    subject: commonName(names[0] ?? ""),
    publicKey,
    extensions: endExtensions(use, names.map(altName), { publicKey, issuerKey }),
    from,
    until: new Date(Math.min(wish.until.getTime(), issuer.validToDate.getTime())),
  };
  const cert = signCertificate(content, issuerKey);
  checkChain(new X509Certificate(cert), issuer);
  return { cert, key: pemOf(privateKey) };
}

/** Better found out here than by those who would refuse the handshake. */
function checkChain(made: X509Certificate, issuer: X509Certificate): void {
  if (issuer.ca && made.checkIssued(issuer) && made.verify(issuer.publicKey)) return;
  throw new Error("the authority's certificate and key do not match, or were not made by mcpx");
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Byte for byte, for names are compared so. */
function subjectOf(certificate: X509Certificate): Uint8Array {
  const [body] = partsOf(certificate.raw);
  const subject = body && partsOf(body)[5];
  if (subject === undefined) throw new Error("the authority's certificate cannot be read");
  return subject;
}

function altName(name: string): Buffer {
  if (isIP(name) !== 0) return der(0x87, addressBytes(name));
  if (!isDnsName(name)) throw new Error(`${name} is neither a DNS name in lower case nor an address`);
  return der(0x82, Buffer.from(name));
}
