import { expect, test } from "vitest";
import { addressKey } from "./addresses.ts";

test("what is counted by address is counted for who stands behind it, however many addresses that is", () => {
  const one = [
    ["127.0.0.1", "127.77.1.2", "::1", "::ffff:127.0.0.9"],
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff::77", "2001:db8:1:2:3:4:5:6"],
    ["192.0.2.7", "::ffff:192.0.2.7"],
  ];
  for (const addresses of one) expect(new Set(addresses.map(addressKey)).size).toBe(1);
  // Control: others are others.
  const others = ["127.0.0.1", "192.0.2.7", "192.0.2.8", "2001:db8:1:2::1", "2001:db8:1:3::1"];
  expect(new Set(others.map(addressKey)).size).toBe(others.length);
});
