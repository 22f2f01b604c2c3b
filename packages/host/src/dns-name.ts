// Names of hosts as DNS has them, in the one spelling that is compared here. Pure.

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const charsMax = 253;

/** Lower case, without a dot at the end; no stars, no other scripts but as `xn--`. */
export function isDnsName(value: unknown): value is string {
  return typeof value === "string" && value.length <= charsMax && value.split(".").every(isLabel);
}

function isLabel(part: string): boolean {
  return label.test(part);
}
