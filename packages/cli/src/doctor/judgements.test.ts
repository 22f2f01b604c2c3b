// The small judgements of single checks.
import { expect, test } from "vitest";
import { judgeClock } from "./gateway.ts";
import { judgeNames } from "./name-length.ts";
import { judgeNode } from "./node-version.ts";
import { missingReferences } from "./references.ts";
import { judgeServer } from "./servers.ts";
import { judgeCertificate } from "./tls.ts";

test.each([
  ["24.0.0", "ok"],
  ["25.1.0", "ok"],
  ["22.19.0", "fault"],
])("Node %s: %s", (version, state) => {
  expect(judgeNode(version).state).toBe(state);
});

test.each([
  [0, []],
  [4_000, []],
  [-30_000, ["warning"]],
  [90_000, ["fault"]],
  [Number.NaN, []],
])("a clock that is %i ms off: %j", (skewMs, states) => {
  expect(judgeClock(1e12 + skewMs, 1e12).map(({ state }) => state)).toEqual(states);
});

test.each([
  [-1, 100, []],
  [-1, 13, ["warning the certificate ends in 13 days"]],
  [-2, -1, [expect.stringMatching(/^fault the certificate ended on /)]],
  [1, 100, [expect.stringMatching(/^fault the certificate is not valid before /)]],
])("a certificate from day %i to day %i: %j", (from, to, said) => {
  const day = (n: number) => new Date(1e12 + n * 86_400_000);
  const cert = {
    validFrom: String(day(from)),
    validFromDate: day(from),
    validTo: String(day(to)),
    validToDate: day(to),
    checkHost: () => undefined,
  };
  expect(judgeCertificate(cert, [], 1e12).map(({ state, text }) => `${state} ${text}`)).toEqual(said);
});

test("names that are cut for a client are named, those that only look otherwise are not", () => {
  expect(judgeNames(["files.read_file", "1st.x-y", "UPPER.Case"])).toEqual([]);
  const [strict] = judgeNames(["files.read_file", `files.${"a".repeat(45)}`]);
  expect(strict).toMatchObject({
    state: "warning",
    text: expect.stringMatching(/48 characters.*: files\.a{45}$/),
  });
  expect(judgeNames([`files.${"a".repeat(60)}`])[0]?.text).toMatch(/53 characters/);
});

test("what is left to the environment and to files, and is not there, is named once", () => {
  const server = {
    command: `\${env:HERE}`,
    args: [`--key=\${env:GONE}`, `\${env:GONE}`, `\${file:package.json}`, `$PLAIN \${other:x}`],
    headers: { Authorization: `Bearer \${file:no-such-file}` },
    oauth: { clientSecret: `\${env:ALSO_GONE}` },
  };
  expect(missingReferences(server, { dir: process.cwd(), env: { HERE: "" } })).toEqual([
    { kind: "env", name: "GONE" },
    { kind: "file", name: "no-such-file" },
    { kind: "env", name: "ALSO_GONE" },
  ]);
});

test("a server's tools are counted, with those that do not say how dangerous they are", () => {
  const item = (annotations?: object) => ({
    name: "t",
    item: { name: "t", ...(annotations && { annotations }) },
  });
  const report = { name: "s", leftOut: [], tookMs: 12.3, isElsewhere: false };
  const tools = [item(), item({ title: "T" }), item({ readOnlyHint: true })];
  expect(judgeServer({ ...report, tools })).toMatchObject([
    { state: "ok", text: "3 tools in 12 ms, 2 of them without annotations and so taken for dangerous" },
  ]);
  expect(judgeServer({ ...report, tools, leftOut: ["x: listed twice"] })[1]).toMatchObject({
    state: "warning",
  });
  expect(judgeServer({ ...report, tools: [] })).toMatchObject([
    { state: "warning", text: "it has no tools" },
  ]);
});

test.each([
  [{ kind: "command", text: "npx is not there" }, false, /mcpx add s --replace -- COMMAND/],
  [
    {
      kind: "start",
      text: "the server needs authorisation, and there is no terminal or page to show its address",
    },
    true,
    /mcpx up, and open the address mcpx tree shows/,
  ],
  [{ kind: "list", text: "s did not list within 10000 ms" }, false, /"listTimeout": "60s" in mcpServers\.s/],
  [{ kind: "start", text: "it cannot be reached (ECONNREFUSED)" }, true, /mcpx add s --replace URL/],
  [{ kind: "start", text: "exit code 3" }, false, /mcpx remove s/],
] as const)("%j has its own way out", (fault, isElsewhere, fix) => {
  const report = { name: "s", fault, tools: [], leftOut: [], tookMs: 0, isElsewhere };
  expect(judgeServer(report)).toMatchObject([{ state: "fault", fix: expect.stringMatching(fix) }]);
});

test("who waits to be authorised says where; what is wrong otherwise stays so", () => {
  const report = { name: "s", tools: [], leftOut: [], tookMs: 0, isElsewhere: true };
  const judge = (text: string) => judgeServer({ ...report, fault: { kind: "start", text } }, "http://idp");
  expect(
    judge("the server needs authorisation, and there is no terminal or page to show its address"),
  ).toMatchObject([{ state: "fault", text: "needs authorisation: open http://idp" }]);
  expect(judge("exit code 3")).toMatchObject([{ state: "fault", text: "exit code 3" }]);
});

test("a server whose tools hide text is named", () => {
  const report = { name: "files", leftOut: [], tookMs: 1, isElsewhere: false };
  const tools = [{ name: "files.read", item: { name: "read", description: "Reads\u200b" } }];
  expect(judgeServer({ ...report, tools }).map(({ state, text }) => [state, text])).toEqual([
    ["ok", expect.any(String)],
    ["warning", expect.stringContaining("files.read: description contains 1 hidden character: U+200B")],
  ]);
});
