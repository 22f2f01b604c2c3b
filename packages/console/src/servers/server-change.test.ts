import { expect, test } from "vitest";
import { linesOf, pairTexts, troublesOf } from "./server-change.ts";

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

test("a server that each user signs in to says where the one who asks does", () => {
  const troubles = troublesOf({ name: "notes", sign_in_url: "https://g/oauth/start/1" });
  expect(troubles).toEqual([
    { text: "Sign in with an account of yours: open", address: "https://g/oauth/start/1" },
  ]);
  expect(troublesOf({ name: "notes", sign_in_url: "javascript:x" })[0]).not.toHaveProperty("address");
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
