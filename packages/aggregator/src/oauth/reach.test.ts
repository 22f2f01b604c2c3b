import { expect, test } from "vitest";
import { isNearer, nearestReach, reachOf } from "./reach.ts";

test.each([
  [
    "public",
    ["8.8.8.8", "172.32.0.1", "100.128.0.1", "192.0.2.1", "2606:4700::1", "2a00::1", "64:ff9b::808:808"],
  ],
  [
    "private",
    ["10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.1.2.3", "224.0.0.1"],
  ],
  [
    "private",
    [
      "255.255.255.255",
      "fc00::1",
      "fd12::1",
      "fe80::1",
      "ff02::1",
      "64:ff9b::10.1.2.3",
      "::ffff:10.0.0.1",
      "2002:a00::1",
    ],
  ],
  ["loopback", ["0.0.0.0", "::", "::ffff:0.0.0.0", "64:ff9b::7f00:1"]],
  ["loopback", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "no address"]],
] as const)("%s: %j", (reach, addresses) => {
  for (const address of addresses) expect([address, reachOf(address)]).toEqual([address, reach]);
});

test("of several addresses the nearest counts", () => {
  expect(nearestReach(["8.8.8.8", "10.0.0.1", "8.8.4.4"])).toBe("private");
  expect(isNearer("private", "public")).toBe(true);
  expect(isNearer("private", "private")).toBe(false);
  expect(isNearer("public", "loopback")).toBe(false);
});
