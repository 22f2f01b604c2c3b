import { expect, test } from "vitest";
import { peerRows } from "./peer-rows.ts";

test("a participant whose id could be taken for another's is marked", () => {
  const rows = peerRows([{ id: "admin" }, { id: "adrnin" }, { id: "bob" }]);
  expect(rows.map(([id]) => id)).toEqual(["admin", "adrnin ⚠ looks like admin", "bob"]);
});
