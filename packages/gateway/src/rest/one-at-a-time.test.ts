import { expect, test } from "vitest";
import { oneAtATime } from "./one-at-a-time.ts";

/** Asks as somebody; the answer comes when `end` is called. */
function desk() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const leave = new Map<string, () => void>();
  const ask = oneAtATime(
    async ({ name }: { name: string; onGone(callback: () => void): void }) => name.slice(0, 1),
    ({ name }) => {
      begun.push(name);
      return new Promise<string>((resolve, reject) =>
        ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error))),
      );
    },
  );
  const of = (name: string) => ask({ name, onGone: (callback) => void leave.set(name, callback) });
  return { begun, of, end: (name: string, error?: Error) => ends.get(name)?.(error), leave };
}

test("[B-FAIR-2] of one principal one is made at a time, in their order; others do not wait for it", async () => {
  const { begun, of, end } = desk();
  const own = [of("a1"), of("a2"), of("a3")];
  const other = of("b1");
  await expect.poll(() => begun).toEqual(["a1", "b1"]);
  end("b1");
  expect(await other).toBe("b1");
  // A fault of one is its own.
  end("a1", new Error("broken"));
  await expect(own[0]).rejects.toThrow("broken");
  await expect.poll(() => begun).toEqual(["a1", "b1", "a2"]);
  end("a2");
  await expect.poll(() => begun).toEqual(["a1", "b1", "a2", "a3"]);
  end("a3");
  expect(await Promise.all(own.slice(1))).toEqual(["a2", "a3"]);
});

test("nothing is made for whoever has left while it waited", async () => {
  const { begun, of, end, leave } = desk();
  const own = [of("a1"), of("a2"), of("a3")];
  await expect.poll(() => begun).toEqual(["a1"]);
  leave.get("a2")?.();
  end("a1");
  await expect(own[1]).rejects.toMatchObject({ code: "bad_request" });
  await expect.poll(() => begun).toEqual(["a1", "a3"]);
  end("a3");
  expect(await own[2]).toBe("a3");
});
