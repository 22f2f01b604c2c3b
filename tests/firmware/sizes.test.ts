// What the firmware costs on each chip, by its own cross compiler.
import { expect, test } from "vitest";
import { buildOnce } from "../../scripts/firmware/build.ts";
import { overBudget, type Target, targets } from "../../scripts/firmware/targets.ts";

test.each(targets.map((target) => [target.name, target] as const))(
  "[AX-B-2] [AX-8.3-3] %s keeps its budget",
  async (_name, target) => {
    const { sizes } = await buildOnce(target);
    expect(overBudget(target, sizes)).toEqual([]);
    // Something was measured at all.
    expect(sizes.core).toBeGreaterThan(300);
    expect(sizes.image).toBeGreaterThan(sizes.core);
    expect(sizes.tables).toBeGreaterThan(10);
    expect(sizes.ram).toBeGreaterThan(10);
  },
);

const named = (name: string) => targets.find((target) => target.name === name) as Target;

test.each([
  ["microbit-b", "-DMCPX_B_PACKET=128", ["ram is 259 bytes, at most 255 are allowed"]],
  ["8052-a", "-DMCPX_A_PAYLOAD=6", ["ram is 18 bytes, at most 16 are allowed"]],
  ["microbit-b", "-O0", [expect.stringMatching(/^core is \d+ bytes, at most 2047 are allowed$/)]],
] as const)("control: %s with %s is over budget", async (name, flag, broken) => {
  const target = { ...named(name), name: `${name}${flag}` };
  const { sizes } = await buildOnce(target, [flag]);
  expect(overBudget(target, sizes)).toEqual(broken);
});

test("a tool table whose registration would not fit a packet does not compile", async () => {
  const target = { ...named("microbit-b"), name: "crowded" };
  await expect(buildOnce(target, ["-DMCPX_B_PACKET=32"])).rejects.toThrow(/registration_fits/);
});
