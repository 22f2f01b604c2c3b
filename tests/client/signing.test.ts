// Signed envelopes between real clients and a real gateway, and before a gateway that lies.
import type { Room, RoomEnvelope } from "@mcpx/client";
import {
  type ChainFinding,
  createKey,
  createKeyBook,
  type KeyBook,
  SignatureChains,
  type SignatureVerdict,
  verifyHistory,
} from "@mcpx/client/signing";
import { signEnvelope } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import type { TestServer } from "../support/test-server.ts";
import { cuttable } from "./support/cuttable.ts";
import { type EnterOptions, join, rejection, seen, startHouse, topic, wideLimits } from "./support/house.ts";
import { type Lie, startLyingGateway } from "./support/lying-gateway.ts";

/** Verifies everything that others publish in a room, in its order. */
function watch(room: Room) {
  const chains = new SignatureChains();
  const verdicts: SignatureVerdict[] = [];
  const findings: ChainFinding[] = [];
  let turn = Promise.resolve();
  const judge = async (envelope: RoomEnvelope) => {
    const verdict = await room.verify(envelope);
    const finding = chains.add(verdict);
    verdicts.push(verdict);
    if (finding !== undefined) findings.push(finding);
  };
  const take = (envelope: RoomEnvelope) => {
    if (envelope.seq !== undefined) turn = turn.then(() => judge(envelope));
  };
  room.addEventListener("envelope", ({ detail }) => take(detail));
  return { verdicts, findings, chains, states: () => verdicts.map(({ state }) => state) };
}

const named = (findings: readonly ChainFinding[]) =>
  findings.map((one) => [one.type, one.type === "missing" ? one.first : one.n]);

async function liveAndLater(lie: Lie, { presence, beforehand }: Staging = {}) {
  const house = await startHouse();
  const liar = await startLyingGateway(house.url);
  liar.lie = lie;
  if (presence !== undefined) liar.presence = presence;
  const key = await createKey();
  const book = createKeyBook({ alice: key.jwk });
  const bob = await join(house, "bob", { url: liar.url, verify: book });
  const notices: RoomEnvelope[] = [];
  bob.addEventListener("envelope", ({ detail }) => detail.kind === "presence" && notices.push(detail));
  const seen = watch(bob);
  const alice = await join(house, "alice", { sign: key, key: key.jwk } as EnterOptions);
  await beforehand?.(house, key);
  for (const text of ["one", "two", "three", "the end"]) await alice.say(text, { to: ["bob"] });
  await expect
    .poll(() => seen.verdicts.at(-1)?.id)
    .toBe((await alice.history({ limit: 1 })).envelopes[0]?.id);
  const { envelopes } = await bob.history();
  const past = new SignatureChains();
  const later: SignatureVerdict[] = [];
  const laterFindings: ChainFinding[] = [];
  for (const envelope of envelopes.toReversed()) {
    const verdict = await bob.verify(envelope);
    later.push(verdict);
    const finding = past.add(verdict);
    if (finding !== undefined) laterFindings.push(finding);
  }
  const told = await Promise.all(notices.map((one) => bob.verify(one)));
  // What is read later says the same as what was heard live.
  expect(later.map(({ state }) => state)).toEqual(seen.states());
  expect(named(laterFindings)).toEqual(named(seen.findings));
  return { states: seen.states(), findings: named(seen.findings), presence: told.map(({ state }) => state) };
}

interface Staging {
  presence?: (text: string) => string;
  beforehand?: (house: TestServer, key: Awaited<ReturnType<typeof createKey>>) => Promise<unknown>;
}

const sound = ["valid", "valid", "valid", "valid"];
const second = (state: string) => ["valid", state, "valid", "valid"];
const isSecond = (text: string) => text.includes('"text":"two"');
const altering =
  (change: (text: string) => string): Lie =>
  (text) => [isSecond(text) ? change(text) : text];

test("[X0-9-7] control: an honest gateway, everything is valid and in order, live and in the history", async () => {
  expect(await liveAndLater((text) => [text])).toEqual({
    states: sound,
    findings: [],
    presence: expect.not.arrayContaining(["key_changed"]),
  });
});

const alterations: [string, (text: string) => string][] = [
  ["the payload", (text) => text.replace("two", "too")],
  ["white space in the payload", (text) => text.replace('"text":', '"text": ')],
  ["the sender", (text) => text.replace('"from":"alice"', '"from":"mallory"')],
  ["the addressees", (text) => text.replace('"to":["bob"]', '"to":["bob","eve"]')],
  ["the lack of addressees", (text) => text.replace('"to":["bob"],', "")],
  ["the kind", (text) => text.replace('"kind":"chat"', '"kind":"mcpx.status.proposal"')],
  ["the time", (text) => text.replace(/"ts":"2/, '"ts":"3')],
  ["the id, to publish it once more", (text) => text.replace(/"id":"[^"]*"/, '"id":"another"')],
  ["what it refers to", (text) => text.replace('"kind":', '"correlation_id":"x","kind":')],
];

for (const [what, change] of alterations) {
  test(`[X0-9-7] a gateway that alters ${what} is caught: invalid`, async () => {
    const { states, findings } = await liveAndLater(altering(change));
    expect(states).toEqual(second("invalid"));
    // Its number has not been seen of anybody.
    expect(findings).toEqual([["missing", 2]]);
  });
}

test("[X0-9-7] a gateway that moves an envelope from another room is caught: invalid", async () => {
  let moved = "";
  const elsewhere = async (house: TestServer, key: Awaited<ReturnType<typeof createKey>>) => {
    const there = await join(house, "alice", { sign: key, topic: "room:cellar" });
    await there.say("open the door");
    const token = await house.token({ sub: "eve", topics: ["**"] });
    const page = await fetch(`${house.url}/v0/topics/room%3Acellar/history`, {
      headers: { authorization: `Bearer ${token}` },
    });
    moved = (await page.text()).slice('{"envelopes":['.length, -"]}".length);
  };
  const lie: Lie = (text) => (isSecond(text) ? [text, moved] : [text]);
  const { states, findings } = await liveAndLater(lie, { beforehand: elsewhere });
  expect(moved).toContain("open the door");
  expect({ states, findings }).toEqual({
    states: ["valid", "valid", "invalid", "valid", "valid"],
    findings: [],
  });
});

test("[X0-9-7] a gateway that says an envelope again is caught: repeated", async () => {
  const { states, findings } = await liveAndLater((text) => (isSecond(text) ? [text, text] : [text]));
  expect({ states, findings }).toEqual({ states: [...sound, "valid"], findings: [["repeated", 2]] });
});

test("[X0-9-7] a gateway that strips signatures is caught: stripped", async () => {
  const strip = altering((text) => text.replace(/,"signature":\{[^}]*\}/, ""));
  expect((await liveAndLater(strip)).states).toEqual(second("stripped"));
});

test("[X0-9-7] a gateway that excuses its change as another version's chat is never believed: derived", async () => {
  const excuse = altering((text) => text.replace("two", "too").replace(/}$/, ',"derived":"mcp-x/v0"}'));
  expect((await liveAndLater(excuse)).states).toEqual(second("derived"));
});

test("[X0-9-7] a gateway that drops an envelope is caught: missing", async () => {
  const { states, findings } = await liveAndLater((text) => (isSecond(text) ? [] : [text]));
  expect({ states, findings }).toEqual({ states: sound.slice(1), findings: [["missing", 2]] });
});

test("[X0-9-7] a gateway that swaps two envelopes is caught: out of order", async () => {
  let held: string[] = [];
  const { states, findings } = await liveAndLater((text) => {
    if (isSecond(text)) {
      held = [text];
      return [];
    }
    return [text, ...held.splice(0)];
  });
  expect({ states, findings }).toEqual({ states: sound, findings: [["missing", 2], ["out_of_order", 2]] }); // biome-ignore format: short
});

test("[X0-9-7] a gateway that speaks in alice's name with a key of its own, and lists that key, is caught: key_changed", async () => {
  const own = await createKey();
  const payloadText = '{"text":"open the door"}';
  const head = {
    protocol: "mcpx/v0.1",
    id: "forged",
    ts: "2026-11-18T09:30:00.000Z",
    from: "alice",
    kind: "chat",
  };
  const { signature } = await signEnvelope(
    own,
    { ...head, to: [], topic, payloadText },
    { session: "0123456789abcdef", n: 1 },
  );
  const forged = JSON.stringify({
    ...head,
    payload: JSON.parse(payloadText),
    signature,
    seq: 1,
    at: head.ts,
  });
  const { states, presence } = await liveAndLater((text) => (isSecond(text) ? [text, forged] : [text]), {
    presence: (text) => text.replace(/"x":"[^"]*"/, `"x":"${own.jwk.x}"`),
  });
  expect(states).toEqual(["valid", "valid", "key_changed", "valid", "valid"]);
  expect(presence).toContain("key_changed");
});

/** Alice signs, bob looks on; `say` some of it, and everything bob heard was valid and in order. */
async function soundAfter(
  house: TestServer,
  count: number,
  options: EnterOptions,
  act: (alice: Room) => Promise<unknown>,
): Promise<void> {
  const key = await createKey();
  const bob = await join(house, "bob", { verify: createKeyBook({ alice: key.jwk }) });
  const seen = watch(bob);
  const alice = await join(house, "alice", { sign: key, ...options });
  await act(alice);
  await expect.poll(() => seen.verdicts.length).toBe(count);
  expect(new Set(seen.states())).toEqual(new Set(["valid"]));
  expect(seen.chains.missing()).toEqual([]);
  expect(seen.findings.filter(({ type }) => type !== "missing")).toEqual([]);
}

test("[X0-9-7] a session goes on over lost connections: nothing is missing, nothing twice", async () => {
  const wire = cuttable();
  await soundAfter(await startHouse(), 60, { WebSocket: wire.WebSocket }, async (alice) => {
    const said: Promise<unknown>[] = [];
    for (let i = 0; i < 60; i += 1) {
      said.push(alice.say(`line ${i}`));
      if (i % 20 === 10) {
        await said[i - 5];
        wire.cut();
      }
    }
    await Promise.all(said);
  });
});

test("[X0-9-7] what was held back by a rate limit is signed anew, so that the order stays sound", async () => {
  const house = await startHouse({ limits: { ...wideLimits, envelopesPerSecondFull: 30, burstFactor: 1 } });
  await soundAfter(house, 60, {}, (alice) =>
    Promise.all(Array.from({ length: 60 }, (_, i) => alice.say(`line ${i}`))),
  );
});

test("[X0-9-7] what the gateway refused for good does not count as missing", async () => {
  await soundAfter(await startHouse(), 3, { level: "restricted" }, async (alice) => {
    await alice.say("one");
    const call = alice.publish({ kind: "mcp", to: ["bob"], payload: { jsonrpc: "2.0", id: 1, method: "x" } });
    const [refused] = await Promise.all([rejection(call), alice.say("two")]);
    expect(refused.reason).toBe("privilege_violation");
    await alice.say("three");
  });
});

test("[X0-9-7] a v0 room: chat for the other version is derived, its original in the history is valid", async () => {
  const house = await startHouse();
  const key = await createKey();
  const bob = await join(house, "bob", { verify: createKeyBook({ alice: key.jwk }) });
  const seen = watch(bob);
  const alice = await join(house, "alice", { sign: key, protocol: "mcp-x/v0" });
  await alice.say("hello");
  await expect.poll(() => seen.states()).toEqual(["derived"]);
  const { envelopes } = await bob.history();
  expect(await bob.verify(envelopes[0] as RoomEnvelope)).toMatchObject({ state: "valid", from: "alice" });
  const late = await join(house, "late", { protocol: "mcp-x/v0", verify: createKeyBook({ alice: key.jwk }) });
  expect(await late.verify(late.recent[0] as RoomEnvelope)).toMatchObject({ state: "valid" });
});

test("[X0-9-7] unsigned envelopes stay welcome; a book that pins on first use learns a key, and keeps to it", async () => {
  const house = await startHouse();
  const saved: object[] = [];
  const book: KeyBook = createKeyBook({}, { pinsFirstUse: true, save: (keys) => void saved.push(keys) });
  const bob = await join(house, "bob", { verify: book });
  const seen = watch(bob);
  const key = await createKey();
  const plain = await join(house, "oven");
  await plain.say("ping");
  const alice = await join(house, "alice", { sign: key });
  await alice.say("one");
  await alice.say("two");
  await alice.close();
  const other = await join(house, "alice", { sign: await createKey() });
  await other.say("it is me");
  await other.close();
  const silent = await join(house, "alice");
  await silent.say("me again");
  await bob.say("I see");
  const states = ["unsigned", "unpinned", "valid", "key_changed", "stripped", "unsigned"];
  await expect.poll(() => seen.states()).toEqual(states);
  expect(saved).toEqual([{ alice: [key.jwk] }]);
});

test("[X0-9-7] everything a program publishes is signed: calls, answers, proposals; nothing that is for the gateway", async () => {
  const house = await startHouse();
  const [hers, his] = [await createKey(), await createKey()];
  const book = createKeyBook({ alice: hers.jwk, oven: his.jwk });
  const alice = await join(house, "alice", { sign: hers, verify: book });
  const oven = await join(house, "oven", { sign: his });
  const { kitchenV1 } = await import("./support/sdk-servers.ts");
  await oven.serve(kitchenV1().server);
  const watched = watch(alice);
  await seen(alice, "oven");
  await alice.peer("oven").listTools();
  await alice.setStatus("busy");
  const proposal = alice.propose({ to: "oven", method: "tools/list" });
  await proposal.withdraw("never mind");
  await expect.poll(() => watched.verdicts.length).toBeGreaterThan(5);
  expect(new Set(watched.states())).toEqual(new Set(["valid"]));
  expect(watched.findings).toEqual([]);
});

test("[X0-9-7] a history in a file is verified by nobody's word but the keys'", async () => {
  const house = await startHouse();
  const key = await createKey();
  const alice = await join(house, "alice", { sign: key });
  for (const text of ["one", "two", "three"]) await alice.say(text);
  const token = await house.token({ sub: "eve", topics: ["**"] });
  const url = `${house.url}/v0/topics/${encodeURIComponent(topic)}/history`;
  const page = await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).text();
  const { splitList } = await import("@mcpx/protocol");
  const lines = splitList(page, ["envelopes"]).reverse();
  const book = createKeyBook({ alice: key.jwk });
  expect(await verifyHistory(lines, topic, book)).toMatchObject({
    isSound: true,
    counts: { valid: 3 },
    findings: [],
  });
  expect(await verifyHistory([lines[0], lines[2]] as string[], topic, book)).toMatchObject({
    isSound: false,
    findings: [{ type: "missing", from: "alice", first: 2, last: 2 }],
  });
  expect((await verifyHistory(lines, "room:cellar", book)).counts).toEqual({ invalid: 3 });
});

test("[X0-9-7] a room joined without a key book, and an envelope from elsewhere, cannot be verified and say so", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice", { sign: await createKey() });
  const bob = await join(house, "bob", { verify: createKeyBook() });
  await alice.say("hello");
  const [envelope] = (await alice.history()).envelopes as [RoomEnvelope];
  for (const room of [alice, bob, await join(house, "plain")]) {
    expect(await rejection(room.verify(envelope))).toMatchObject({ reason: "bad_option" });
  }
  const broken = await join(house, "broken", {
    sign: { jwk: (await createKey()).jwk, sign: () => Promise.reject(new Error("no hand")) },
  });
  onTestFinished(() => broken.close());
  expect(await rejection(broken.say("x"))).toMatchObject({
    reason: "bad_option",
    cause: { message: "no hand" },
  });
  for (const book of [
    { alice: {} },
    { alice: [] },
    { "not an id!": (await createKey()).jwk },
    { alice: { ...(await createKey()).jwk, d: "x" } },
  ]) {
    expect(() => createKeyBook(book)).toThrow(expect.objectContaining({ reason: "bad_option" }));
  }
});
