// How far away an address is. A server may send us as far out as it likes, but never nearer than it stands itself: so a
// stranger's server cannot make us knock at endpoints inside. Pure.
import { BlockList, isIP } from "node:net";

/** From far to near. */
const reaches = ["public", "private", "loopback"] as const;
export type Reach = (typeof reaches)[number];

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
// Systems take these for the machine itself.
loopback.addAddress("0.0.0.0", "ipv4");
loopback.addAddress("::", "ipv6");
loopback.addSubnet(translated("127.0.0.0"), 96 + 8, "ipv6");

// Not for the internet at large: private, shared, link-local, reserved, multicast, and what tunnels IPv4.
const inside = new BlockList();
for (const subnet of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
  "::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2002::/16",
  "fc00::/7",
  "fe80::/9",
  "ff00::/8",
]) {
  // biome-ignore format: a table
  const [net = "", prefix] = subnet.split("/");
  inside.addSubnet(net, Number(prefix), isIP(net) === 6 ? "ipv6" : "ipv4");
  if (isIP(net) === 4) inside.addSubnet(translated(net), 96 + Number(prefix), "ipv6");
}

/** As hosts without IPv4 reach it through a translator (RFC 6052). */
function translated(net: string): string {
  return `64:ff9b::${net}`;
}

/** Of an IP address, an IPv4 address in IPv6 form included. What is no address counts as nearest. */
export function reachOf(address: string): Reach {
  const version = isIP(address);
  if (version === 0) return "loopback";
  const family = version === 6 ? "ipv6" : "ipv4";
  if (loopback.check(address, family)) return "loopback";
  return inside.check(address, family) ? "private" : "public";
}

/** Of several addresses, that of the nearest. */
export function nearestReach(addresses: readonly string[]): Reach {
  return addresses.map(reachOf).reduce((a, b) => (isNearer(a, b) ? a : b), "public");
}

export function isNearer(reach: Reach, than: Reach): boolean {
  return reaches.indexOf(reach) > reaches.indexOf(than);
}
