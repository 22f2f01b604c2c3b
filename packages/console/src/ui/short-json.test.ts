import { expect, test } from "vitest";
import { shortJson } from "./short-json.ts";

const values = [
  null,
  true,
  -0.5,
  'a "quoted" text\n',
  [],
  {},
  [1, [2, [3]], { a: [] }],
  { a: { b: "c", "d e": null }, f: [true, "g"] },
];

test.each(values)("is what JSON says where that is short: %j", (value) => {
  expect(shortJson(value, 1_000)).toBe(JSON.stringify(value));
});

test.each(values)("begins as JSON does where that is longer than wanted: %j", (value) => {
  const whole = JSON.stringify(value);
  for (let max = 1; max < whole.length; max += 1) {
    expect(shortJson(value, max).slice(0, max)).toBe(whole.slice(0, max));
  }
});

test("of what is large only the beginning is read", () => {
  let read = 0;
  const items = new Proxy(
    Array.from({ length: 100_000 }, (_, i) => i),
    {
      get(target, key, self) {
        if (typeof key === "string" && /^\d+$/.test(key)) read += 1;
        return Reflect.get(target, key, self) as unknown;
      },
    },
  );
  expect(shortJson({ items }, 40)).toContain('{"items":[0,1,2,');
  expect(read).toBeLessThan(50);
  expect(shortJson({ ["k".repeat(1e6)]: "v".repeat(1e6) }, 300).length).toBeLessThan(700);
});
