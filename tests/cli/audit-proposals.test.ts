// Proposals of rooms beside the audit chain: one command finds both and exports both, with a real gateway.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinRoom, type Room } from "@mcpx/client";
import type { TokenClaims } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { rejection, seen } from "../client/support/house.ts";
import { kitchenV1 } from "../client/support/sdk-servers.ts";
import { mintTokens } from "../faults/support/tokens.ts";
import { type Gated, gatedHome, startGated } from "../gates/support/gated.ts";
import { mcpx, scratch } from "./support/mcpx-process.ts";

/** Many commands, each a process of its own. */
const slow = { timeout: 300_000 };

interface Found {
  at: string;
  action: string;
  actor: string;
  subject?: string;
  topic?: string;
  reason?: string;
  hash?: string;
  detail: { proposal?: string; tool?: string; reason?: string };
}

const secret = "hush-hush";
const echo = { method: "tools/call", params: { name: "echo", arguments: { text: secret } } };

async function enter(gated: Gated, topic: string, claims: Omit<TokenClaims, "topics">): Promise<Room> {
  const [token = ""] = await mintTokens(gated.dataDir, [{ ...claims, topics: [topic] }]);
  const room = await joinRoom({ url: gated.url(), topic, token });
  onTestFinished(() => room.close());
  return room;
}

async function kitchen(gated: Gated, topic = "kitchen") {
  const oven = await enter(gated, topic, { sub: "oven", level: "full" });
  await oven.serve(kitchenV1().server);
  const human = await enter(gated, topic, { sub: "human", level: "full" });
  const rookie = await enter(gated, topic, { sub: "rookie", level: "restricted" });
  await Promise.all([seen(human, "rookie"), seen(rookie, "oven"), seen(oven, "rookie")]);
  const propose = async (room: Room, more: { reason?: string; ttlMs?: number } = {}) => {
    const handle = rookie.propose({ to: "oven", ...echo, ...more });
    await expect.poll(() => room.proposals.get(handle.id)).toBeDefined();
    const proposal = room.proposals.get(handle.id);
    if (proposal === undefined) throw new Error("gone");
    return { handle, proposal };
  };
  return { oven, human, rookie, propose };
}

/** One of each; resolves to the ids of the proposals. */
async function oneOfEach(gated: Gated) {
  const { oven, human, rookie, propose } = await kitchen(gated);
  const expired = await propose(human, { ttlMs: 1 });
  const fulfilled = await propose(human, { reason: "I am hungry" });
  await human.proposals.status(fulfilled.proposal, "considering");
  await human.proposals.fulfil(fulfilled.proposal);
  await fulfilled.handle.result;
  const rejected = await propose(oven);
  await human.proposals.reject(rejected.proposal, { reason: "I would not" });
  await oven.proposals.reject(rejected.proposal, { reason: "too hot", code: "unsafe" });
  await rejection(rejected.handle.result);
  const withdrawn = await propose(human);
  await withdrawn.handle.withdraw("not hungry any more");
  expect(
    await rejection(rookie.peer("oven").callTool("echo", { text: "x" }, { propose: "never" })),
  ).toMatchObject({ code: -32001 });
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper: "taxes" });
  const [gate] = await gated.pending();
  expect(await gated.run("approve", gate?.id ?? "", "--yes")).toMatchObject({ code: 0 });
  const [admin = ""] = await mintTokens(gated.dataDir, [{ sub: "boss", topics: [], admin: true }]);
  const promoted = await fetch(`${gated.url()}/admin/participants/rookie/promote`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin}` },
  });
  expect(promoted.status).toBe(200);
  const ids = { expired, fulfilled, rejected, withdrawn };
  return { admin, id: (name: keyof typeof ids) => ids[name].handle.id };
}

const inRooms = [
  "proposal.advice",
  "proposal.answered",
  "proposal.expired",
  "proposal.fulfilled",
  "proposal.made",
  "proposal.made",
  "proposal.made",
  "proposal.made",
  "proposal.rejected",
  "proposal.status",
  "proposal.withdrawn",
];

test(
  "[B-AUDIT-1] one command finds and exports every proposal, approval, gate, promotion and refusal",
  slow,
  async () => {
    const gated = await startGated();
    const { admin, id } = await oneOfEach(gated);
    const find = async (...args: string[]): Promise<Found[]> =>
      JSON.parse((await gated.run("audit", "--json", ...args)).out).records;

    const all = await find();
    const actions = all.map(({ action }) => action);
    expect(actions.filter((action) => action.startsWith("proposal.")).sort()).toEqual(inRooms);
    expect(actions).toEqual(expect.arrayContaining(["gate.approve", "gate.done", "participant.promote"]));
    expect(all.filter(({ actor, reason }) => actor === "rookie" && reason !== undefined)).toHaveLength(1);
    // Merged by time; decisions are in the chain, once, and so have a hash; how it came to them is in the room's log.
    const times = all.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const inLogAlone = ["proposal.made", "proposal.status", "proposal.answered"];
    for (const { action, hash } of all) expect(hash === undefined).toBe(inLogAlone.includes(action));
    expect(JSON.stringify(all)).not.toContain(secret);

    const proposals = all.filter(({ action }) => action.startsWith("proposal."));
    const one = (name: string) => proposals.find(({ action }) => action === `proposal.${name}`);
    expect(one("fulfilled")).toMatchObject({
      actor: "human",
      subject: "oven",
      topic: "kitchen",
      detail: { proposal: id("fulfilled"), proposer: "rookie", tool: "echo", changed: false },
    });
    expect(one("rejected")).toMatchObject({
      actor: "oven",
      subject: "rookie",
      detail: { proposal: id("rejected"), reason: "too hot", code: "unsafe" },
    });
    expect(one("withdrawn")).toMatchObject({
      actor: "rookie",
      detail: { proposal: id("withdrawn"), reason: "not hungry any more" },
    });
    expect(one("expired")).toMatchObject({ actor: "rookie", detail: { proposal: id("expired") } });
    const shown = (await gated.run("audit", "--action", "proposal.made")).out;
    expect(shown).toMatch(/ {2}proposal\.made {2}proposed {2}rookie → oven in kitchen {2}\{"proposal":/);

    // The chain stands in one file, exactly as it can be checked; proposals stand in another.
    const made = await gated.run("audit", "--export", "a.jsonl", "--json");
    expect(JSON.parse(made.out)).toMatchObject({ proposals: { records: inRooms.length } });
    const beside = join(gated.dataDir, "a.proposals.jsonl");
    expect(statSync(beside).mode & 0o777).toBe(0o600);
    const text = readFileSync(beside, "utf8");
    expect(text).not.toContain(secret);
    const [start, ...lines] = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(start).toEqual({ format: "mcpx-proposals", version: 1 });
    expect(lines.pop()).toMatchObject({ end: { count: inRooms.length } });
    expect(lines.map(({ action }) => action).sort()).toEqual(inRooms);
    const chain = readFileSync(join(gated.dataDir, "a.jsonl"), "utf8");
    expect(chain).toContain("proposal.fulfilled");
    expect(chain).not.toContain("proposal.made");
    expect(chain).not.toContain(secret);
    expect(await gated.run("audit", "verify", "a.jsonl", "--live")).toMatchObject({ code: 0 });
    expect(await gated.run("audit", "verify", "a.proposals.jsonl")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no chain covers"),
    });

    // Elsewhere, with a token of an admin, it is the same; with another's nothing is told.
    const far = (token: string, ...args: string[]) =>
      mcpx(["audit", ...args, "--url", gated.url(), "--token", token], { cwd: scratch() });
    const remote = JSON.parse((await far(admin, "--json", "--action", "proposal.*")).out).records;
    expect(remote).toEqual(proposals);
    const [plain = ""] = await mintTokens(gated.dataDir, [
      { sub: "eve", topics: ["kitchen"], level: "full" },
    ]);
    const asked = await fetch(`${gated.url()}/admin/proposals`, {
      headers: { authorization: `Bearer ${plain}` },
    });
    expect(asked.status).toBe(403);
    await gated.end("SIGTERM");
    // And without a gateway, by who.
    expect((await find("--actor", "oven")).map(({ action }) => action)).toEqual([
      "proposal.rejected",
      "proposal.answered",
    ]);
  },
);

test(
  "[B-AUDIT-1] a room without history has decisions in the chain, and no proposals to find",
  slow,
  async () => {
    const gated = gatedHome();
    const path = join(gated.dataDir, "mcpx.json");
    const config = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...config, topics: { scratch: { history: false } } }));
    await gated.start();
    for (const topic of ["scratch", "kept"]) {
      const { human, propose } = await kitchen(gated, topic);
      await propose(human);
      const { handle, proposal } = await propose(human);
      await human.proposals.fulfil(proposal);
      await handle.result;
    }
    const { out } = await gated.run("audit", "--action", "proposal.*", "--json");
    const found = JSON.parse(out).records.map(({ topic, action }: Found) => `${topic} ${action}`);
    expect(found.sort()).toEqual([
      "kept proposal.answered",
      "kept proposal.fulfilled",
      "kept proposal.made",
      "kept proposal.made",
      "scratch proposal.fulfilled",
    ]);
  },
);
