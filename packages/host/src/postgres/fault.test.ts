import { expect, test } from "vitest";
import { endsConnection, faultKind, PostgresFault } from "./fault.ts";

const serverError = (code: string) => Object.assign(new Error("no"), { code, severity: "ERROR" });

test.each([
  ["23505", "duplicate"],
  ["53100", "full"],
  ["53200", "busy"],
  ["57014", "busy"],
  ["25006", "busy"],
  ["40001", "conflict"],
  ["40P01", "conflict"],
  ["57P01", "lost"],
  ["08006", "lost"],
  ["42P01", "failed"],
  ["XX001", "failed"],
])("code %s means %s", (code, kind) => {
  expect(faultKind(serverError(code))).toBe(kind);
});

test("an error that no server sent means that nobody knows what became of it", () => {
  expect(faultKind(new Error("Connection terminated unexpectedly"))).toBe("lost");
  expect(faultKind(Object.assign(new Error("reset"), { code: "ECONNRESET" }))).toBe("lost");
});

test("a server that ends, or takes no more writes, needs another connection; one that warns does not", () => {
  const ends = (code: string) => {
    const cause = serverError(code);
    return endsConnection(new PostgresFault(faultKind(cause), "no", { cause }));
  };
  expect(["57P01", "25006", "08003"].map(ends)).toEqual([true, true, true]);
  expect(["23505", "53100", "42P01"].map(ends)).toEqual([false, false, false]);
  expect(endsConnection(new PostgresFault("doubtful", "no"))).toBe(false);
});
