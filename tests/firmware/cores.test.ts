// The C cores against the vectors and against mutated frames, built with the sanitisers.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeCobs } from "../../packages/devices/src/framing/cobs.ts";
import { buildSanitised, fastAndCounted, type Program } from "./support/sanitised.ts";
import { type ExchangeB, profileA, profileB } from "./support/vectors.ts";

const root = join(import.meta.dirname, "..", "..");
const coreA = "firmware/profile-a/mcpx_a.c";
const coreB = "firmware/profile-b/mcpx_b.c";
const board = "tests/firmware/pins.c";
const demoA = [board, "firmware/demo/demo_a.c"];
const largeA = [board, "tests/firmware/large-a.c"];
const demoB = [board, "firmware/demo/demo_b.c"];
const probe = [board, "tests/firmware/probe.c"];

const framesCount = process.env.MCPX_SOAK === undefined ? 200_000 : 3_000_000;

test.each([
  ["", profileA.exchanges, demoA, []],
  [", built for the longest payloads,", profileA.large, largeA, ["-DMCPX_A_PAYLOAD=124"]],
] as const)(
  "[AX-B-1] [AX-B-4] [AX-8.3-1] the profile A core%s answers every exchange as written",
  async (_name, exchanges, parts, flags) => {
    await using program = await buildSanitised(["tests/firmware/answers-a.c", coreA, ...parts], flags);
    const heard = exchanges.map(({ hears }) => hears.join(""));
    const { status, lines, errors } = await program.run([], heard);
    expect(errors).toBe("");
    expect(status).toBe(0);
    const answers = Object.fromEntries(exchanges.map(({ name }, at) => [name, lines[at]]));
    expect(answers).toEqual(Object.fromEntries(exchanges.map(({ name, answers }) => [name, answers])));
  },
);

test("[AX-B-1] built with a CRC of one byte, the core answers frames of that kind only", async () => {
  const sources = ["tests/firmware/answers-a.c", coreA, ...demoA];
  await using program = await buildSanitised(sources, ["-DMCPX_A_CRC_BYTES=1"]);
  const { crc8, crc16 } = profileA.frames.find(({ name }) => name === "heartbeat") ?? {};
  const answer = profileA.frames.find(({ name }) => name === "heartbeat's answer");
  const { lines } = await program.run([], [String(crc8), String(crc16)]);
  expect(lines).toEqual([answer?.crc8, ""]);
});

async function answersOf(
  program: Program,
  exchanges: readonly ExchangeB[],
): Promise<Record<string, string[]>> {
  // A packet of no bytes is a word too.
  const heard = exchanges.map(({ hears }) => `p ${hears.map((packet) => packet || "-").join(" ")}`);
  const { status, lines, errors } = await program.run([], heard);
  expect(errors).toBe("");
  expect(status).toBe(0);
  return Object.fromEntries(
    exchanges.map(({ name }, at) => [name, (lines[at] ?? "").split(" ").filter((packet) => packet !== "")]),
  );
}

function expected(exchanges: readonly ExchangeB[]): Record<string, string[]> {
  return Object.fromEntries(exchanges.map(({ name, answers }) => [name, answers]));
}

let demo: Program;

beforeAll(async () => {
  demo = await buildSanitised(["tests/firmware/answers-b.c", coreB, ...demoB]);
});

afterAll(() => demo[Symbol.asyncDispose]());

test("[AX-8.2-1] [AX-B-5] [AX-8.3-2] the profile B core answers every exchange as written", async () => {
  expect(await answersOf(demo, profileB.exchanges)).toEqual(expected(profileB.exchanges));
});

test("[AX-B-5] it takes and gives every type of argument", async () => {
  await using program = await buildSanitised(["tests/firmware/answers-b.c", coreB, ...probe]);
  expect(await answersOf(program, profileB.probed)).toEqual(expected(profileB.probed));
});

test("[AX-B-8] [AX-8.1-1] on a UART it announces itself at boot, in COBS, and hears frames after noise", async () => {
  // {1: -2, 2: 9} and its CRC, by hand: no zeros in it, so COBS is one byte before.
  const heartbeat = profileB.messages.find(({ name }) => name === "heartbeat")?.packet as string;
  const frame = `${(heartbeat.length / 2 + 1).toString(16).padStart(2, "0")}${heartbeat}00`;
  const long = `ff${"11".repeat(254)}${"ff".padEnd(510, "22")}00`;
  const { lines } = await demo.run(
    [],
    ["u -", `u ${frame}`, `u aabbcc00${frame}`, `u ${long}${frame}`, `u 0000${frame}`, "u 0502"],
  );
  const boot = lines[0] as string;
  const announcement = profileB.messages.find(({ name }) => name === "announcement at boot")
    ?.packet as string;
  const announced = Buffer.from(encodeCobs(Buffer.from(announcement, "hex"))).toString("hex");
  expect(boot).toBe(`00${announced}00`);
  const answer = (lines[1] as string).slice(boot.length);
  expect(answer).toMatch(/^..a2020904a0....00$/);
  expect(lines).toEqual([boot, boot + answer, boot + answer, boot + answer, boot + answer, boot]);
});

const eventOf = (vectors: readonly { name: string }[]) =>
  vectors.find(({ name }) => name === "event 1: too hot") as never;

test("[AX-12-1] [AX-B-1] the profile A core sends an event as written, and none into a frame that it hears", async () => {
  await using program = await buildSanitised(["tests/firmware/events-a.c", coreA, ...demoA]);
  const { crc16 } = eventOf(profileA.frames) as (typeof profileA.frames)[number];
  const longest = profileA.frames.find(({ name }) => name === "the longest event")?.crc16 as string;
  const bare = profileA.frames.find(({ name }) => name === "an event without values")?.crc16;
  const payload = longest.slice(10, -4);
  const said = ["1 0866", "255 -", `2 ${payload}`, `2 ${payload}00`, "h 1 0866"];
  const { lines, errors } = await program.run([], said);
  expect(errors).toBe("");
  expect(lines).toEqual([`1 ${crc16}`, `1 ${bare}`, `1 ${longest}`, "0 ", "0 "]);
});

test("[AX-12-1] [AX-B-5] the profile B core sends an event as written, as a packet and in COBS", async () => {
  await using program = await buildSanitised(["tests/firmware/events-b.c", coreB, ...demoB]);
  const { packet } = eventOf(profileB.messages) as (typeof profileB.messages)[number];
  const bare = profileB.messages.find(({ name }) => name === "the largest event, without values")?.packet;
  const { lines, errors } = await program.run([], ["1 a100190866", "255 a0"]);
  expect(errors).toBe("");
  const inCobs = (hex = "") => `${Buffer.from(encodeCobs(Buffer.from(hex, "hex"))).toString("hex")}00`;
  expect(lines).toEqual([`${packet} ${inCobs(packet)}`, `${bare} ${inCobs(bare)}`]);
});

const fuzzers = [
  {
    name: "A",
    source: coreA,
    file: "mcpx_a",
    fuzzer: "tests/firmware/fuzz-a.c",
    board: demoA,
    seeds: () => seedsA,
    flags: [],
  },
  {
    name: "A (longest payloads)",
    source: coreA,
    file: "mcpx_a",
    fuzzer: "tests/firmware/fuzz-a.c",
    board: largeA,
    seeds: () => seedsLargeA,
    flags: ["-DMCPX_A_PAYLOAD=124"],
  },
  {
    name: "B",
    source: coreB,
    file: "mcpx_b",
    fuzzer: "tests/firmware/fuzz-b.c",
    board: probe,
    seeds: () => seedsB,
    flags: [],
  },
];

const seedsA = [
  ...profileA.frames.map(({ crc16 }) => crc16).filter((frame) => frame.length < 60),
  ...profileA.exchanges
    .flatMap(({ hears }) => hears)
    .filter((frame) => /^7e0[3-9a-b]/.test(frame) && frame.length >= 14),
];
const seedsLargeA = [
  ...profileA.large.flatMap(({ hears }) => hears).filter((frame) => frame.length >= 14),
  ...seedsA,
];
const seedsB = [
  ...profileB.messages.map(({ packet }) => packet),
  ...[...profileB.exchanges, ...profileB.probed]
    .flatMap(({ hears }) => hears)
    .filter((one) => one.length > 8),
];

for (const { name, source, file, fuzzer, board: parts, seeds, flags } of fuzzers) {
  test(`[AX-10.4-1] ${framesCount} mutated frames neither break nor confuse the profile ${name} core, and reach every line`, async () => {
    await using program = await buildSanitised([fuzzer, source, ...parts], [...fastAndCounted, ...flags]);
    const { status, lines, errors } = await program.run([String(framesCount), "20260501"], seeds());
    expect(errors).toBe("");
    expect(status).toBe(0);
    const [heard, answered] = (lines[0] ?? "").split(" ").map(Number);
    expect(heard).toBe(framesCount);
    expect(answered).toBeGreaterThan(framesCount / 20);
    const covered = await program.linesCovered(file);
    process.stdout.write(
      `profile ${name} core: ${covered} % of lines reached by ${heard} frames, ${answered} answered\n`,
    );
    expect(covered).toBe(100);
  }, 300_000);
}

/** A core in which `sound` reads `broken`. */
async function breakCore(
  source: string,
  sound: string,
  broken: string,
  others: readonly string[],
): Promise<Program> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-broken-"));
  try {
    const original = await readFile(join(root, source), "utf8");
    expect(original.split(sound)).toHaveLength(2);
    const core = join(directory, "core.c");
    await writeFile(core, original.replace(sound, broken));
    return await buildSanitised([core, ...others], ["-I", join(root, source, "..")]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test.each([
  ["A", 0, "byte < HEAD || byte > sizeof frame", "byte < HEAD"],
  ["B", 2, "if (received < MCPX_B_PACKET)", "if (received < 255)"],
  ["B", 2, "number > (uint32_t)(end - at)", "number > 4000000000u"],
] as const)(
  "control: the fuzzer finds a profile %s core (%i) without %s",
  async (_name, which, sound, broken) => {
    const { source, fuzzer, board: parts, seeds } = fuzzers[which] as (typeof fuzzers)[number];
    await using program = await breakCore(source, sound, broken, [fuzzer, ...parts]);
    const { status } = await program.run(["200000", "20260501"], seeds());
    expect(status).not.toBe(0);
  },
);

test("control: a core that does not look at the CRC answers what it should not", async () => {
  const others = ["tests/firmware/answers-a.c", ...demoA];
  await using program = await breakCore(coreA, "if (crc == 0)", "if (crc != 1)", others);
  const exchange = profileA.exchanges.find(({ name }) => name === "is silent on a wrong CRC");
  const { lines } = await program.run([], [String(exchange?.hears.join(""))]);
  expect(lines[0]).not.toBe(exchange?.answers);
});
