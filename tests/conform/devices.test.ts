// The kit for devices against our codec and our C stubs, and against ones that are wrong on purpose.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { conformCodec, conformStub, deviceVectorsFolder, summarise, type Verdict } from "@mcpx/conform";
import { expect, test } from "vitest";
import { keepBuilt } from "../../scripts/firmware/keep-built.ts";

const root = join(import.meta.dirname, "..", "..");
const codec = [
  process.execPath,
  "--conditions=mcpx-source",
  join(import.meta.dirname, "support", "codec-program.ts"),
];

async function judged(verdicts: AsyncIterable<Verdict>): Promise<Verdict[]> {
  const seen: Verdict[] = [];
  for await (const verdict of verdicts) seen.push(verdict);
  return seen;
}

function faultsOf(verdicts: readonly Verdict[]): string[] {
  return verdicts
    .filter(({ outcome }) => outcome !== "holds")
    .map(({ title, detail }) => `${title}: ${detail}`);
}

async function buildStub(profile: "a" | "b", ...more: string[]): Promise<string> {
  const sources = [`firmware/profile-${profile}/mcpx_${profile}.c`, `firmware/demo/demo_${profile}.c`];
  const files = [...sources, "tests/conform/support/stdio-board.c"].map((source) => join(root, source));
  const words = ["-std=gnu99", "-O1", ...more, ...files];
  const kept = await keepBuilt({ compiler: "gcc", words }, (directory) =>
    promisify(execFile)("gcc", [...words, "-o", join(directory, "stub")]),
  );
  return join(kept, "stub");
}

test("[B-CONF-1] our codec passes every vector", async () => {
  const verdicts = await judged(conformCodec(codec, deviceVectorsFolder));
  expect(faultsOf(verdicts)).toEqual([]);
  expect(verdicts).toHaveLength(9);
});

test("[B-CONF-1] a codec with a wrong checksum is told so, by requirement and vector", async () => {
  const verdicts = await judged(conformCodec([...codec, "crc8"], deviceVectorsFolder));
  expect(summarise(verdicts).differs).toEqual(["AX-B-1"]);
  const [fault] = faultsOf(verdicts);
  expect(fault).toMatch(/crc\.json\): crc8, .*"nonsense", not \d+/);
});

test("[B-CONF-1] a codec that takes what must be refused, and one that ends, are told so", async () => {
  const lax = await judged(conformCodec([...codec, "json.decode"], deviceVectorsFolder));
  expect(summarise(lax).differs).toEqual(["AX-8.1-5"]);
  expect(faultsOf(lax)[0]).toContain("not a refusal");
  const gone = await judged(conformCodec(["false"], deviceVectorsFolder));
  expect(new Set(gone.map(({ outcome, detail }) => `${outcome}: ${detail}`))).toEqual(
    new Set(["differs: false has ended with 1"]),
  );
});

test("[B-CONF-1] our C stubs pass every exchange of their profile", async () => {
  for (const profile of ["a", "b"] as const) {
    const verdicts = await judged(conformStub([await buildStub(profile)], profile, deviceVectorsFolder));
    expect(faultsOf(verdicts)).toEqual([]);
    expect(verdicts.length).toBeGreaterThan(15);
  }
});

test("[B-CONF-1] a stub that answers nothing but heartbeats is told so, exchange by exchange", async () => {
  const answer = String.raw`printf '\176\004\004\000\132\000\263\217'; exec cat > /dev/null`;
  const verdicts = await judged(conformStub(["sh", "-c", answer], "a", deviceVectorsFolder));
  expect(summarise(verdicts).differs).toEqual(["AX-8.3-1", "AX-B-1", "AX-B-4"]);
  const held = verdicts.filter(({ outcome }) => outcome === "holds").map(({ title }) => title);
  expect(held).toContain("Profile A: is silent on a wrong CRC");
  expect(faultsOf(verdicts)).toContainEqual(
    "Profile A: reads the sensor: answered 7e0404005a00b38f, not 7e080201000008660000aa42 7e0404005a00b38f",
  );
});
