import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  type CertificatePair,
  type CertificateWish,
  makeAuthority,
  makeCertificate,
} from "./make-certificate.ts";

const from = new Date("2026-01-02T03:04:05Z");
const until = new Date("2027-02-03T04:05:06Z");
const authority = makeAuthority({ name: "ours", from, until: new Date("2055-01-01T00:00:00Z") });
const make = (wish: Partial<CertificateWish>, by: CertificatePair = authority) =>
  makeCertificate({ use: "server", names: ["a.example"], from, until, ...wish }, by);
const read = ({ cert }: CertificatePair) => new X509Certificate(cert);

test("an authority vouches for itself and signs, with a P-256 key", () => {
  const ca = read(authority);
  expect({ ca: ca.ca, subject: ca.subject, issuer: ca.issuer }).toEqual({
    ca: true,
    subject: "CN=ours",
    issuer: "CN=ours",
  });
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(ca.validToDate).toEqual(new Date("2055-01-01T00:00:00Z"));
  expect(ca.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  expect(ca.checkPrivateKey(createPrivateKey(authority.key))).toBe(true);
});

test("what it signs is for these names and this use, in this time, and signs nothing itself", () => {
  const ca = read(authority);
  const server = read(make({ names: ["gw.example.com", "127.0.0.1", "2001:db8::5:6", "::"] }));
  expect(server.checkIssued(ca) && server.verify(ca.publicKey)).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect([server.validFromDate, server.validToDate]).toEqual([from, until]);
  expect(server.subjectAltName).toBe(
    "DNS:gw.example.com, IP Address:127.0.0.1, IP Address:2001:DB8:0:0:0:0:5:6, IP Address:0:0:0:0:0:0:0:0",
  );
  expect(read(make({ use: "client" })).keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
});

test("serial numbers are long, positive and never the same", () => {
  const serials = Array.from({ length: 20 }, () => read(make({})).serialNumber);
  expect(new Set(serials).size).toBe(20);
  for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
});

test("nothing outlives its authority", () => {
  expect(read(make({ until: new Date("2090-01-01T00:00:00Z") })).validToDate).toEqual(
    new Date("2055-01-01T00:00:00Z"),
  );
});

test.each(["*.example.com", "A.example", "a.example.", "", "bücher.example", "a b", "fe80::1%eth0", "a..b"])(
  "%j is no name for a certificate",
  (name) => {
    expect(() => make({ names: [name] })).toThrow();
  },
);

describe("an authority is refused", () => {
  test("whose key is another's", () => {
    const { key } = makeAuthority({ name: "ours", from, until });
    expect(() => make({}, { cert: authority.cert, key })).toThrow("certificate and key do not match");
  });

  test("that is none", () => {
    expect(() => make({}, make({}))).toThrow("certificate and key do not match");
    expect(() => make({}, { cert: "", key: authority.key })).toThrow();
  });

  test("with a key of another kind", () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    expect(createPublicKey(key).asymmetricKeyType).toBe("rsa");
    expect(() => make({}, { cert: authority.cert, key })).toThrow("certificate and key do not match");
  });
});
