import { expect, test } from "vitest";
import type { ClientId } from "../client-configs/client.ts";
import { judgeCount } from "./tool-count.ts";

const many = (count: number) => Array.from({ length: count }, (_, n) => `s${n % 2}.t${n}`);
const url = "http://127.0.0.1:6279/mcp";
const bearer = (tools: string[]) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return { Authorization: `Bearer ${part({ typ: "mcpx+jwt" })}.${part({ tools })}.x` };
};
const states = (count: number, client: ClientId | undefined, entry: object = { url }, profiles = {}) =>
  judgeCount(many(count), client === undefined ? [] : [{ client, entry }], profiles).map(
    ({ state }) => state,
  );

test.each([
  ["cursor", 40, "ok"],
  ["cursor", 41, "warning"],
  ["vscode", 128, "ok"],
  ["vscode", 129, "warning"],
  [undefined, 128, "ok"],
  [undefined, 129, "warning"],
] as const)("%s with %i tools: %s", (client, count, state) => {
  expect(states(count, client)).toEqual([state]);
});

test("what a profile or a token keeps from a client does not count", () => {
  const profiles = { half: { tools: ["s0.*"] }, search: { tools: ["**"], search: true } };
  const at = (name: string) => ({ url: `http://127.0.0.1:6279/mcp/${name}` });
  expect(states(80, "cursor", at("half"), profiles)).toEqual(["ok"]);
  expect(states(9_000, "cursor", at("search"), profiles)).toEqual(["ok"]);
  expect(states(80, "cursor", at("unknown"), profiles)).toEqual(["warning"]);
  expect(states(80, "cursor", { url, headers: bearer(["s1.*"]) })).toEqual(["ok"]);
  expect(states(80, "cursor", { url, headers: bearer(["**"]) })).toEqual(["warning"]);
  const args = ["stdio", "--profile", "half"];
  expect(states(200, "claude-desktop", { command: "mcpx", args }, profiles)).toEqual(["ok"]);
  expect(states(200, "claude-desktop", { command: "mcpx", args: ["stdio"] }, profiles)).toEqual(["warning"]);
});

test("the way out is search", () => {
  const [finding] = judgeCount(many(41), [{ client: "cursor", entry: { url } }], {});
  expect(finding).toMatchObject({ text: "Cursor gets 41 tools and takes 40" });
  expect(finding?.fix).toMatch(/"search": true.*mcpx connect cursor --profile search/);
});
