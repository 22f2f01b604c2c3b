import { expect, test } from "vitest";
import {
  linesOf,
  makeChange,
  makeOrLookAgain,
  type Preview,
  pairTexts,
  troublesOf,
} from "./server-change.ts";

test("arguments are what stands on a line, spaces and all; empty lines are none", () => {
  expect(linesOf("-y\n\n a b \nc")).toEqual(["-y", " a b ", "c"]);
  expect(linesOf("")).toEqual([]);
});

test("pairs without a name are not there; values stay as they are", () => {
  const pairs = [
    { name: " KEY ", value: " a=b " },
    { name: "", value: "lost" },
  ];
  expect(pairTexts(pairs, "=")).toEqual(["KEY= a=b "]);
  expect(pairTexts(pairs, ": ")).toEqual(["KEY:  a=b "]);
});

test.each([
  ["/x/server cannot be started (not found)", "mcpx add files --replace -- FULL/PATH/OF/COMMAND"],
  ["connect ECONNREFUSED 127.0.0.1:1", "mcpx add files --replace URL"],
  ["it wants to be authorised (401)", "mcpx add files --replace URL --header 'Authorization: Bearer …'"],
  ["it has ended", "mcpx doctor"],
])("%s is mended by %s", (fault, fix) => {
  expect(troublesOf({ name: "files", fault })).toEqual([{ text: fault, fix }]);
});

test("who waits to be authorised says where, and nothing but a page is opened", () => {
  const waiting = { name: "team", fault: "late", list_faults: { tools: "late" } };
  const at = (authorise_url: string) => troublesOf({ ...waiting, authorise_url });
  const text = "Needs authorisation: open";
  expect(at("https://idp.example/?a=b")).toEqual([{ text, address: "https://idp.example/?a=b" }]);
  expect(at("javascript:alert(1)")).toEqual([{ text }]);
});

test("a name that a shell would read is quoted in the command", () => {
  const [trouble] = troublesOf({ name: "a b;rm -rf '~'", fault: "not found" });
  expect(trouble?.fix).toContain("mcpx add 'a b;rm -rf '\\''~'\\''' --replace");
});

test("what was left out is told; a server without faults has no troubles", () => {
  const server = {
    name: "files",
    left_out: ["x y"],
    list_faults: { tools: "slow" },
  };
  expect(troublesOf(server).map(({ text }) => text)).toEqual(["tools: slow", "Left out: x y"]);
  expect(troublesOf({ name: "files", state: "up" })).toEqual([]);
});

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
    "/d/mcpx.json was written. The file as it was is beside it: mcpx.json.1.bak. It holds secrets, so only its owner may read it now.",
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
