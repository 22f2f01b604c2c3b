// The DNS names of a client certificate that was proven: signed by an authority of `clientCa`, in time, over TLS 1.3.
// The common name and wildcards count for nothing. [AX-4.2-3]
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { isDnsName } from "../dns-name.ts";

/** In lower case; empty where the client has shown no certificate. */
export function certificateNamesOf(socket: Socket, now: number): readonly string[] {
  if (!(socket instanceof TLSSocket) || !socket.authorized || socket.getProtocol() !== "TLSv1.3") return [];
  // In some releases of Node a resumed session without a certificate calls itself authorised.
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return [];
  // A session and a connection outlive the moment in which the certificate was looked at.
  const isInTime = certificate.validFromDate.getTime() <= now && now < certificate.validToDate.getTime();
  return isInTime ? dnsNamesOf(certificate.subjectAltName ?? "") : [];
}

/** Node writes `DNS:a.example, IP Address:127.0.0.1`, and quotes a value that could be taken for several. */
export function dnsNamesOf(altNames: string): readonly string[] {
  if (altNames.includes('"')) return [];
  const names = altNames.split(", ").flatMap((one) => (one.startsWith("DNS:") ? one.slice(4) : []));
  return names.map((name) => name.toLowerCase()).filter(isDnsName);
}
