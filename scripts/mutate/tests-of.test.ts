import { expect, test } from "vitest";
import { inStages, testsOfIds } from "./tests-of.ts";

const files = [
  {
    path: "packages/a/src/log.test.ts",
    text: 'import { cases } from "./log-cases.ts";\ntest("[X0-1-1] a", f);',
  },
  { path: "packages/a/src/log-cases.ts", text: 'import "./more-cases.ts";\ntest("[X0-1-2] b", f);' },
  { path: "packages/a/src/more-cases.ts", text: 'test("[X0-1-3] c", f);' },
  { path: "packages/b/src/other-log.test.ts", text: 'import { x } from "../../a/src/log-cases.ts";' },
  { path: "tests/transcripts/transcripts.test.ts", text: "" },
  { path: "spec/transcripts/chat.txt", text: "[X0-1-1] Romeo chats" },
];

test("a title counts for the file it is in, for those that import its case suite, and for the player of a transcript", () => {
  const tests = testsOfIds(files);
  expect(tests.get("X0-1-1")).toEqual([
    "packages/a/src/log.test.ts",
    "tests/transcripts/transcripts.test.ts",
  ]);
  expect(tests.get("X0-1-2")).toEqual(["packages/a/src/log.test.ts", "packages/b/src/other-log.test.ts"]);
});

test("a case suite may stand in another one", () => {
  const nested = files.map((file) =>
    file.path.endsWith("/log-cases.ts") ? { ...file, text: 'import { y } from "./more-cases.ts";' } : file,
  );
  expect(testsOfIds(nested).get("X0-1-3")).toEqual(testsOfIds(files).get("X0-1-2"));
});

test("what stands beside the code is asked first", () => {
  expect(inStages(["tests/rooms/a.test.ts", "packages/a/src/a.test.ts"])).toEqual([
    ["packages/a/src/a.test.ts"],
    ["tests/rooms/a.test.ts"],
  ]);
  expect(inStages(["tests/rooms/a.test.ts"])).toHaveLength(1);
});
