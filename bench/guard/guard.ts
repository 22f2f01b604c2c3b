// What capabilities cost: the check of one call beside one bare signature verification, the memory of its uses, and a
// million revoked ids.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccessKey, type AccessStore, createKey, createMemoryAccessStore } from "@mcpx/client/guard";
import { createSqliteAccessStore } from "@mcpx/client/node";
import { createSqliteRoomState, gatewayMigrations, RevokedCapabilities } from "@mcpx/gateway";
import { openDatabase } from "@mcpx/host";
import {
  type CapabilityClaims,
  type PresentedCall,
  signCapability,
  signProof,
  VerifiedTokens,
  verifyCall,
} from "@mcpx/protocol";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";

const rounds = sized(9, 2);
const warmupRounds = sized(3, 1);
const callsPerRound = sized(1_000, 20);
const revokedMax = sized(1_000_000, 5_000);
const revokedFew = 1_000;
const noticeIds = 250;
const lookups = sized(200_000, 20_000);
/** A check is one signature and one digest, each by way of the thread pool; a lookup must not know how many there are. */
const goals = { verifyVsBare: 3, lookupVsFew: 3 };
const nowMs = 1_800_000_000_000;
const args = { path: "/srv/notes/today.md", depth: 3, tags: ["a", "b"] };
const schema = { type: "object", properties: { depth: { maximum: 9 } }, required: ["path"] };

export async function benchGuard(note: (line: string) => void): Promise<Record<string, unknown>> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-guard-"));
  try {
    note("guard: one call");
    const verify = await measureVerify();
    note("guard: remembering its use");
    const spend = await measureSpend(dir);
    note(`guard: ${revokedMax} revoked ids`);
    const revoked = await measureRevoked(dir);
    return { verify, spend, revoked };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measureVerify(): Promise<object> {
  const [owner, holder] = [await createKey(), await createKey()];
  const claims = claimsFor(holder);
  const capability = await signCapability(owner, claims);
  const calls: PresentedCall[] = [];
  for (let n = 0; n < callsPerRound; n += 1) calls.push(await callOf(holder, capability, claims, n));
  const bare = await bareVerifications(holder);
  const check = (verified: () => VerifiedTokens) => async () => {
    for (const call of calls) await verifyCall(call, { ...verification(owner), verified: verified() });
  };
  const known = new VerifiedTokens();
  const us = await inTurns({ bare, warm: check(() => known), cold: check(() => new VerifiedTokens()) });
  const [one, warm, cold] = [us.bare ?? 0, us.warm ?? 0, us.cold ?? 0];
  return {
    us: { bareSignature: round2(one), warm: round2(warm), cold: round2(cold) },
    ratio: {
      warm_vs_bare: round2(warm / one),
      cold_vs_bare: round2(cold / one),
      warm_vs_goal: round2(warm / one / goals.verifyVsBare),
    },
  };
}

const verification = (owner: AccessKey) => ({
  ownerKey: owner.jwk,
  nowMs,
  provenAtMs: nowMs,
  skewMs: 0,
  channelOf: () => undefined,
});

function claimsFor(holder: AccessKey): CapabilityClaims {
  const now = nowMs / 1_000;
  return {
    jti: crypto.randomUUID(),
    iss: "oven",
    holder: "ann",
    topic: "kitchen",
    cnf: { jwk: holder.jwk },
    tools: ["heat"],
    iat: now,
    nbf: now,
    exp: now + 3_600,
    arguments: schema,
  };
}

async function callOf(
  holder: AccessKey,
  capability: string,
  { jti }: CapabilityClaims,
  request: number,
): Promise<PresentedCall> {
  const said = { tool: "heat", arguments: args, topic: "kitchen", request };
  const when = { timestamp: new Date(nowMs).toISOString(), nonce: crypto.randomUUID() };
  const proof = await signProof(holder, { ...said, capability: jti, target: "oven" }, when);
  return { ...said, capability, proof, holder: "ann", holderKey: holder.jwk, owner: "oven" };
}

/** WebCrypto's own verification of a text as long as a proof's, with the key at hand. */
async function bareVerifications(holder: AccessKey): Promise<() => Promise<void>> {
  const { kty, crv, x } = holder.jwk;
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
  const text = new Uint8Array(512).fill(97);
  const signature = new Uint8Array(await holder.sign(text));
  return async () => {
    for (let n = 0; n < callsPerRound; n += 1) await crypto.subtle.verify("Ed25519", key, signature, text);
  };
}

async function measureSpend(dir: string): Promise<object> {
  const stores: Record<string, AccessStore> = {
    memory: createMemoryAccessStore(),
    sqlite: createSqliteAccessStore(join(dir, "access.db")),
  };
  const untilMs = nowMs + 3_600_000;
  let nonce = 0;
  const cases: Record<string, () => Promise<void>> = {};
  for (const [name, store] of Object.entries(stores)) {
    const grant = { id: "oven c1", jti: "c1", topic: "kitchen", holder: "ann", tools: "*" as const };
    await store.remember({ ...grant, isByPolicy: true, issuedAtMs: nowMs, untilMs }, nowMs);
    const capabilities = [{ id: "oven c1", maxUses: 1_000_000, untilMs }];
    cases[name] = async () => {
      for (let n = 0; n < callsPerRound; n += 1) {
        nonce += 1;
        const outcome = await store.spend({ nonce: `n${nonce}`, nonceUntilMs: untilMs, capabilities }, nowMs);
        if (outcome !== "spent") throw new Error(outcome);
      }
    };
  }
  const us = await inTurns(cases, "wall");
  for (const store of Object.values(stores)) await store.close();
  return { wallUs: { memory: round2(us.memory ?? 0), sqliteDurable: round2(us.sqlite ?? 0) } };
}

async function measureRevoked(dir: string): Promise<object> {
  const few = await fill(dir, "few.db", revokedFew);
  const heapBefore = await memoryBytes();
  const many = await fill(dir, "many.db", revokedMax);
  const heap = (await memoryBytes()) - heapBefore;
  const us = { few: 0, many: 0, manyRevoked: 0 };
  us.few = await lookupUs((n) => few.list.has("kitchen", "stranger", `x${n}`, nowMs));
  us.many = await lookupUs((n) => many.list.has("kitchen", "stranger", `x${n}`, nowMs));
  us.manyRevoked = await lookupUs((n) => many.list.has("kitchen", issuerOf(n), `c${n}`, nowMs));
  const before = process.cpuUsage();
  const reloaded = new RevokedCapabilities(createSqliteRoomState(many.db).revoked);
  if (!(await reloaded.has("kitchen", issuerOf(1), "c1", nowMs))) throw new Error("forgotten");
  const { user, system } = process.cpuUsage(before);
  few.db.close();
  many.db.close();
  return {
    ids: revokedMax,
    lookupUs: { few: round2(us.few), many: round2(us.many), manyRevoked: round2(us.manyRevoked) },
    tableBytesEach: round2(many.list.bytes / revokedMax),
    memoryBytesEach: round2(heap / revokedMax),
    loadCpuMs: Math.round((user + system) / 1_000),
    ratio: {
      lookup_many_vs_few: round2(us.many / us.few),
      lookup_vs_goal: round2(us.many / us.few / goals.lookupVsFew),
    },
  };
}

/**
 * As notices bring them, save that the disk is waited for at the end only. The bound is twice that: a tenth of it is
 * admins', and these are issuers'.
 */
async function fill(dir: string, name: string, count: number) {
  const db = openDatabase(join(dir, name), { component: "gateway", migrations: gatewayMigrations });
  db.exec("PRAGMA synchronous = OFF");
  const list = new RevokedCapabilities(createSqliteRoomState(db).revoked, { idsMax: 2 * count });
  for (let notice = 0; notice < count / noticeIds; notice += 1) {
    const ids = Array.from({ length: noticeIds }, (_, n) => `c${notice * noticeIds + n}`);
    const issuer = issuerOf(notice * noticeIds);
    await list.add({ topic: "kitchen", issuer, ids, until: nowMs + 1_000 }, nowMs);
  }
  return { db, list };
}

function issuerOf(n: number): string {
  return `owner${Math.floor(n / noticeIds) % 500}`;
}

async function lookupUs(look: (n: number) => Promise<boolean>): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < lookups; n += 1) await look(n);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / lookups;
}

/** The median cost of one call in microseconds, each case in turn, the first rounds left out. */
async function inTurns(
  cases: Record<string, () => Promise<void>>,
  clock: "cpu" | "wall" = "cpu",
): Promise<Record<string, number>> {
  const us: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(cases)) {
      const [cpu, wall] = [process.cpuUsage(), performance.now()];
      await run();
      const { user, system } = process.cpuUsage(cpu);
      const spent = clock === "cpu" ? user + system : (performance.now() - wall) * 1_000;
      us[name] = [...(us[name] ?? []), spent / callsPerRound];
    }
  }
  return Object.fromEntries(
    Object.entries(us).map(([name, all]) => [
      name,
      percentile(
        all.slice(warmupRounds).toSorted((a, b) => a - b),
        50,
      ),
    ]),
  );
}

async function memoryBytes(): Promise<number> {
  for (let i = 0; i < 3; i += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
