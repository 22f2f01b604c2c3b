import fc from "fast-check";
import { expect, test } from "vitest";
import type { SignatureVerdict } from "./judge-envelope.ts";
import { SignatureChains } from "./signature-chains.ts";

const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" } as const;

function verdict(
  n: number,
  more: { prev?: string; skipped?: number[]; session?: string; from?: string } = {},
): SignatureVerdict {
  const { session = "one", from = "alice", prev = `d${n - 1}`, skipped } = more;
  const link = { session, n, prev, digest: `d${n}`, ...(skipped && { skipped }) };
  return { state: "valid", detail: "", id: `e${n}`, from, key, link };
}

/** What a list of numbers reveals. */
function told(...verdicts: SignatureVerdict[]) {
  const chains = new SignatureChains();
  const findings = verdicts.map((one) => chains.add(one)).filter((one) => one !== undefined);
  return {
    findings: findings.map(({ type, ...rest }) => [type, "n" in rest ? rest.n : rest.first]),
    missing: chains.missing(),
  };
}

test("[X0-9-7] numbers that follow each other say nothing, from wherever they begin", () => {
  expect(told(verdict(1), verdict(2), verdict(3))).toEqual({ findings: [], missing: [] });
  expect(told(verdict(40), verdict(41))).toEqual({ findings: [], missing: [] });
  // Sessions, senders and unsigned envelopes do not disturb each other.
  const { key: _, link: __, ...unsigned } = verdict(9);
  expect(
    told(verdict(1), verdict(1, { session: "two" }), verdict(1, { from: "bob" }), unsigned, verdict(2)),
  ).toEqual({
    findings: [],
    missing: [],
  });
});

test("[X0-9-7] a number that is left out is missing, until it comes late or its sender says that it was refused", () => {
  const gap = { from: "alice", session: "one", first: 3, last: 4 };
  expect(told(verdict(2), verdict(5))).toEqual({ findings: [["missing", 3]], missing: [gap] });
  expect(told(verdict(2), verdict(5), verdict(4))).toEqual({
    findings: [["missing", 3], ["out_of_order", 4]],
    missing: [{ ...gap, last: 3 }],
  }); // biome-ignore format: short
  expect(told(verdict(2), verdict(5, { skipped: [3, 4] }))).toEqual({ findings: [], missing: [] });
  expect(told(verdict(2), verdict(5, { skipped: [3] })).missing).toEqual([{ ...gap, first: 4 }]);
  expect(told(verdict(2), verdict(5), verdict(6, { skipped: [3, 4] }))).toEqual({
    findings: [["missing", 3]],
    missing: [],
  });
});

test("[X0-9-7] the same number twice is repeated, a lower one out of order, another past forked", () => {
  expect(told(verdict(1), verdict(2), verdict(2)).findings).toEqual([["repeated", 2]]);
  expect(told(verdict(1), verdict(2), verdict(1)).findings).toEqual([["repeated", 1]]);
  expect(told(verdict(2), verdict(1)).findings).toEqual([["out_of_order", 1]]);
  expect(told(verdict(1), verdict(2, { prev: "another" })).findings).toEqual([["forked", 2]]);
});

test("[X0-9-7] what is missing is what was not seen, for any numbers in any order", () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  fc.assert(
    fc.property(numbers, (seen) => {
      const { missing, findings } = told(...seen.map((n) => verdict(n)));
      const [first = 0] = seen;
      const expected = new Set<number>();
      for (let n = first; n <= Math.max(...seen); n += 1) if (!seen.includes(n)) expected.add(n);
      const got = missing.flatMap(({ first: from, last }) =>
        Array.from({ length: last - from + 1 }, (_, at) => from + at),
      );
      expect(new Set(got)).toEqual(expected);
      expect(findings.filter(([type]) => type === "repeated")).toEqual([]);
    }),
  );
});

test("sessions and gaps are bounded", () => {
  const chains = new SignatureChains();
  for (let n = 1; n < 2_000; n += 2) chains.add(verdict(n));
  expect(chains.missing().length).toBeLessThanOrEqual(256);
  for (let at = 0; at < 1_500; at += 1) chains.add(verdict(1, { session: `s${at}` }));
  expect(chains.missing()).toEqual([]);
});
