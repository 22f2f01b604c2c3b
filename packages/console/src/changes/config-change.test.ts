import { expect, test } from "vitest";
import { makeChange, makeOrLookAgain, type Preview } from "./config-change.ts";

test("what was shown is what is asked for, and what has happened is said", async () => {
  const asked: unknown[] = [];
  const api = {
    call: async (...args: unknown[]) => {
      asked.push(args);
      return { file: "/d/mcpx.json", backup: "/d/mcpx.json.1.bak", isClosed: true };
    },
  };
  const change = { type: "remove", name: "files" };
  expect(await makeChange(api, change, { digest: "abc" } as Preview)).toBe(
    "/d/mcpx.json was written. The file as it was is beside it: mcpx.json.1.bak. The file holds secrets, so only its owner may read it now.",
  );
  expect(asked).toEqual([["POST", "/servers/change", { change, digest: "abc" }]]);
});

test("where it would be another change meanwhile, that one is given back; any other refusal is told", async () => {
  const change = { type: "remove", name: "files" };
  const refusedBy = (now: () => string) => ({
    call: async (_method: string, path: string) => {
      if (path === "/servers/change") throw new Error("refused");
      return { digest: now(), leaving: ["files"] };
    },
  });
  const shown = { digest: "abc" } as Preview;
  const another = await makeOrLookAgain(
    refusedBy(() => "def"),
    change,
    shown,
  );
  expect(another).toEqual({ changed: { digest: "def", leaving: ["files"] } });
  const same = refusedBy(() => "abc");
  await expect(makeOrLookAgain(same, change, shown)).rejects.toThrow("refused");
  const blind = refusedBy(() => {
    throw new Error("gone");
  });
  await expect(makeOrLookAgain(blind, change, shown)).rejects.toThrow("refused");
});
