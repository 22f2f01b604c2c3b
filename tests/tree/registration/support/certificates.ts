// Certificates of a test, as files: what `mcpx cert` would have made, and what it would not.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CertificatePair, makeAuthority, makeCertificate } from "@mcpx/host";

export interface Files {
  cert: string;
  key: string;
}

interface Certificates {
  /** Of our authority, as a file. */
  readonly ca: string;
  /** An authority nobody has heard of. */
  readonly otherCa: string;
  /** For `localhost` and `127.0.0.1`. */
  readonly server: Files;
  client(name: string, more?: { isExpired?: boolean; isOfOther?: boolean }): Files;
  /** A server's certificate shown by a client. */
  serverAs(name: string): Files;
}

const dayMs = 86_400_000;

export function makeCertificates(dir: string): Certificates {
  const span = { from: new Date(Date.now() - 10 * dayMs), until: new Date(Date.now() + 10 * dayMs) };
  const past = { from: span.from, until: new Date(Date.now() - dayMs) };
  const [own, other] = ["Lab", "Mallory"].map((name) => makeAuthority({ name, ...span })) as [
    CertificatePair,
    CertificatePair,
  ];
  let count = 0;
  const write = (pem: string) => {
    count += 1;
    const path = join(dir, `${count}.pem`);
    writeFileSync(path, pem, { mode: 0o600 });
    return path;
  };
  const files = ({ cert, key }: CertificatePair): Files => ({ cert: write(cert), key: write(key) });
  return {
    ca: write(own.cert),
    otherCa: write(other.cert),
    server: files(makeCertificate({ use: "server", names: ["localhost", "127.0.0.1"], ...span }, own)),
    client: (name, { isExpired = false, isOfOther = false } = {}) =>
      files(
        makeCertificate(
          { use: "client", names: [name], ...(isExpired ? past : span) },
          isOfOther ? other : own,
        ),
      ),
    serverAs: (name) => files(makeCertificate({ use: "server", names: [name], ...span }, own)),
  };
}
