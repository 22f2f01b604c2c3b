// Which addresses are this machine's own, and the parts of a Host header. Pure.
import { isIP } from "node:net";

/** Whether an address or host name means this machine and nobody else. */
export function isLoopbackHost(host: string): boolean {
  const bare = unbracketed(host.toLowerCase());
  if (bare === "localhost" || bare === "::1") return true;
  const v4 = bare.startsWith("::ffff:") ? bare.slice(7) : bare;
  return isIP(v4) === 4 && v4.startsWith("127.");
}

export function isWildcardHost(host: string): boolean {
  return host === "0.0.0.0" || host === "::" || host === "[::]";
}

/** `name:port` of a Host header, lower case, brackets off; `undefined` where it is not one. */
export function parseHost(header: string): { name: string; port: number | undefined } | undefined {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/.exec(header);
  if (match?.[1] === undefined) return undefined;
  return {
    name: unbracketed(match[1].toLowerCase()),
    port: match[2] === undefined ? undefined : Number(match[2]),
  };
}

/** An address as sockets report it, without the IPv4-in-IPv6 prefix. */
export function plainAddress(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/**
 * Who stands behind an address: of IPv6 its network, since one machine has as many addresses there as it likes, and of
 * IPv4's loopback likewise. To be asked wherever something is counted by address.
 */
export function addressKey(address: string): string {
  const plain = plainAddress(address);
  if (isLoopbackHost(plain)) return "loopback";
  if (isIP(plain) !== 6) return plain;
  const [head = "", tail] = plain.split("::");
  const left = head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  return [...left, ...gap, ...right]
    .slice(0, 4)
    .map((group) => group || "0")
    .join(":");
}

function unbracketed(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}
