// An IP address as bytes. Pure.

/** 4 or 16 bytes of what `isIP` takes, but no zone (`%eth0`): that means something on one machine only. */
export function addressBytes(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  // Eight groups of hexadecimal digits at most, `::` for those that are zero.
  const plain = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  if (plain === undefined) throw new Error(`${address} is not an address others can use`);
  const [head = [], tail = []] = plain.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  const groups = [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
