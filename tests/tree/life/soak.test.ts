// Starting and stopping, over and over: nothing is left behind, however the children end.
import { expect, test } from "vitest";
import { scale, timeout } from "../../faults/support/soak.ts";
import { hostile, openTo, stdioOf } from "../links/support/open.ts";
import { descendantsOf, descriptors } from "./support/process-table.ts";

const atOnce = 5;
const rounds = scale(50, 1_000) / atOnce;

async function live(n: number): Promise<void> {
  const { link, call } = await openTo(hostile(), { era: "legacy" });
  expect(await call("echo")).toBe("echo");
  if (n % 4 === 1) await expect(call("die")).rejects.toThrow("exit code 7");
  else if (n % 4 === 2) process.kill(link.pid as number, "SIGKILL");
  await link.close();
  if (n % 4 === 2) expect(await link.ended).toBe("SIGKILL");
  if (n % 4 === 3) {
    const missing = { ...stdioOf("x"), command: "/no/such" };
    await expect(openTo(missing)).rejects.toThrow("cannot be started");
  }
}

test(`${rounds * atOnce} starts and stops leave no process and no descriptor`, { timeout }, async () => {
  await live(0);
  await expect.poll(() => descendantsOf(process.pid), { timeout: 5_000 }).toEqual([]);
  const before = descriptors();
  for (let n = 0; n < rounds; n += 1) {
    await Promise.all(Array.from({ length: atOnce }, (_, more) => live(n * atOnce + more)));
  }
  await expect.poll(() => descendantsOf(process.pid), { timeout: 5_000 }).toEqual([]);
  await expect.poll(descriptors, { timeout: 5_000 }).toBeLessThanOrEqual(before);
});
