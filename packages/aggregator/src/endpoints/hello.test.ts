import { expect, test } from "vitest";
import { readHello } from "./hello.ts";

test("the revision asked for is spoken where it is known, else the newest legacy one", () => {
  expect(readHello({ protocolVersion: "2025-03-26", capabilities: { roots: {} } })).toEqual({
    revision: "2025-03-26",
    capabilities: { roots: {} },
    info: undefined,
  });
  for (const protocolVersion of ["2026-07-28", "", "x"]) {
    expect(readHello({ protocolVersion }).revision).toBe("2025-11-25");
  }
});

test.each([
  [{}],
  [{ protocolVersion: 7 }],
  [{ protocolVersion: "2025-06-18", capabilities: [] }],
  [{ protocolVersion: "2025-06-18", clientInfo: "me" }],
])("%j is no hello", (params) => {
  expect(() => readHello(params)).toThrow(
    expect.objectContaining({ fault: expect.objectContaining({ code: -32602 }) }),
  );
});
