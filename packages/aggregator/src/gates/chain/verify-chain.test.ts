import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { type PublicJwk, statementKey, thumbprint } from "@mcpx/host";
import { digestOf, type GateTerms, signStatement, statementOf } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AuthorityChange } from "./authority-state.ts";
import { authorityServer, type ChainEntry, entryHash, entryText, signedArguments } from "./chain-entry.ts";
import { sentencesOf } from "./change-words.ts";
import { type Chain, emptyChain, extendChain } from "./verify-chain.ts";

const gateway = "7f0c2a34-0000-4000-8000-000000000001";
const at = "2030-01-01T00:00:00.000Z";

interface Person {
  name: string;
  jwk: PublicJwk;
  privateKey: KeyObject;
}

function person(name: string): Person {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return { name, jwk: publicKey.export({ format: "jwk" }) as PublicJwk, privateKey };
}

const [alice, bob, mallory] = ["alice", "bob", "mallory"].map(person) as [Person, Person, Person];
const enrolled = ({ name, jwk }: Person): AuthorityChange => ({
  key: `approver/${name}`,
  value: { name, jwk },
});
const gone = ({ name }: Person): AuthorityChange => ({ key: `approver/${name}`, value: null });
const rules = (list: object[], more: object = {}): AuthorityChange => ({
  key: "rules",
  value: { rules: list, unannotated: "ask", quorum: 1, ...more },
});
const trusted = (identity: string): AuthorityChange => ({
  key: "server/papers/trusted",
  value: { identity },
});

const unsigned = ({ head }: Chain, kind: ChainEntry["kind"], changes: AuthorityChange[]): string =>
  entryText({ n: (head?.n ?? -1) + 1, at, previous: head?.hash ?? null, kind, changes });

async function signed(chain: Chain, changes: AuthorityChange[], by: Person[], more: Partial<GateTerms> = {}) {
  const { head, state } = chain;
  const what = sentencesOf(state, changes);
  const terms: GateTerms = {
    version: 2,
    asker: "mcpx",
    server: await authorityServer("approvers"),
    confirmation_id: "c-1",
    aggregator_id: gateway,
    route: ["mcpx"],
    tool: "mcpx.approvers",
    arguments_digest: await digestOf(signedArguments(changes, { head, what })),
    nonce: "n".repeat(22),
    expires_at: 1_893_456_300,
    ...more,
  };
  const sign = ({ privateKey, jwk }: Person) =>
    signStatement(statementOf(terms, "approve"), statementKey(privateKey, thumbprint(jwk)));
  const proofs = await Promise.all(by.map(sign));
  const entry: ChainEntry = {
    n: (head?.n ?? -1) + 1,
    at,
    previous: head?.hash ?? null,
    kind: "signed",
    changes,
    terms,
    proofs,
  };
  return entryText(entry);
}

const extend = (chain: Chain, ...texts: string[]) => extendChain(chain, texts, gateway);

/** Alice came first, and has signed bob. */
async function beginning(): Promise<{ texts: string[]; chain: Chain }> {
  const texts = [unsigned(emptyChain, "adopted", [rules([{ tools: "git.*", action: "deny" }])])];
  let chain = await extend(emptyChain, ...texts);
  texts.push(unsigned(chain, "open", [enrolled(alice)]));
  chain = await extend(chain, texts.at(-1) ?? "");
  texts.push(await signed(chain, [enrolled(bob)], [alice]));
  return { texts, chain: await extend(emptyChain, ...texts) };
}

test("[B-KEY-2] the first approver comes by themselves, everybody else by a signature, and the chain tells it", async () => {
  const { chain } = await beginning();
  expect(chain.entries.map(({ kind, by }) => [kind, by])).toEqual([
    ["adopted", []],
    ["open", []],
    ["signed", ["alice"]],
  ]);
  expect(chain.entries[2]?.what).toEqual([`bob may approve, with the key ${thumbprint(bob.jwk)}`]);
  expect([...chain.state.keys()].sort()).toEqual(["approver/alice", "approver/bob", "rules"]);
});

test("[B-KEY-2] without a signature nobody comes or goes, no rule gets milder and nothing is believed", async () => {
  const { chain } = await beginning();
  const weakenings = [[enrolled(mallory)], [gone(alice)], [rules([])], [trusted("stdio:x")]];
  for (const changes of weakenings) {
    for (const kind of ["open", "tightened", "adopted", "reset"] as const) {
      // A reset puts approvers out, which is what it is there for: that stays in the chain for good.
      if (kind === "reset" && changes[0]?.value === null) continue;
      await expect(extend(chain, unsigned(chain, kind, changes)), kind).rejects.toThrow("entry 3");
    }
    await expect(extend(chain, await signed(chain, changes, [mallory]))).rejects.toThrow(
      "belongs to no enrolled approver",
    );
    // The control: an approver's signature.
    expect((await extend(chain, await signed(chain, changes, [alice]))).head?.n).toBe(3);
  }
});

test("[B-KEY-2] what is stricter needs no signature, and its undoing does", async () => {
  const { chain } = await beginning();
  const more = rules([
    { tools: "git.*", action: "deny" },
    { tools: "mail.*", action: "always_ask" },
  ]);
  const stricter = await extend(chain, unsigned(chain, "tightened", [more, { key: "panic", value: true }]));
  const calm = [{ key: "panic", value: null }];
  await expect(extend(stricter, unsigned(stricter, "tightened", calm))).rejects.toThrow(
    "no approver has signed",
  );
  await expect(
    extend(stricter, unsigned(stricter, "tightened", [rules([{ tools: "git.*", action: "deny" }])])),
  ).rejects.toThrow("no approver has signed");
  expect((await extend(stricter, await signed(stricter, calm, [bob]))).state.has("panic")).toBe(false);
});

test("[B-KEY-2] a changed, missing, swapped, repeated or foreign entry is found", async () => {
  const { texts, chain } = await beginning();
  const [first = "", second = "", third = ""] = texts;
  const bad: [string, string[]][] = [
    ["cut in the middle", [first, third]],
    ["swapped", [second, first, third]],
    ["repeated", [first, second, third, third]],
    ["its first is missing", [second, third]],
    ["bob is somebody else", [first, second, third.replace(bob.jwk.x ?? "", mallory.jwk.x ?? "")]],
    ["alice is somebody else", [first, second.replace(alice.jwk.x ?? "", mallory.jwk.x ?? ""), third]],
    ["another time", [first, second.replace("2030-01-01", "2030-01-02"), third]],
    ["another spelling", [first, second, ` ${third}`]],
  ];
  for (const [what, tampered] of bad) {
    await expect(extend(emptyChain, ...tampered), what).rejects.toThrow(/^entry \d of the chain/);
  }
  await expect(extendChain(emptyChain, texts, "another-gateway")).rejects.toThrow("another gateway");
  expect((await extend(emptyChain, ...texts)).head).toEqual(chain.head);
});

test("[B-KEY-2] a removed approver signs nothing any more, and no signature counts twice or elsewhere", async () => {
  const { chain } = await beginning();
  const byBob = await signed(chain, [enrolled(mallory)], [bob]);
  const after = await extend(chain, await signed(chain, [gone(bob)], [alice]));
  await expect(extend(after, await signed(after, [enrolled(mallory)], [bob]))).rejects.toThrow(
    "belongs to no enrolled approver",
  );
  // Signed while bob was there, for a place that is taken now: a fork.
  await expect(extend(after, byBob)).rejects.toThrow("entry 4");
  const moved = { ...JSON.parse(byBob), n: 4, previous: after.head?.hash } as ChainEntry;
  await expect(extend(after, entryText(moved))).rejects.toThrow("another change was signed");
  expect((await extend(chain, byBob)).head?.n).toBe(3);
});

test("[B-KEY-2] where several must approve a call, as many must sign a change, each with a key of their own", async () => {
  const { chain } = await beginning();
  const two = await extend(
    chain,
    unsigned(chain, "tightened", [rules([{ tools: "git.*", action: "deny" }], { quorum: 2 })]),
  );
  await expect(extend(two, await signed(two, [enrolled(mallory)], [alice]))).rejects.toThrow("1 of 2");
  await expect(extend(two, await signed(two, [enrolled(mallory)], [alice, alice]))).rejects.toThrow("1 of 2");
  expect(
    (await extend(two, await signed(two, [enrolled(mallory)], [alice, bob]))).entries.at(-1)?.by,
  ).toEqual(["alice", "bob"]);
});

test("[B-KEY-2] a reset puts everybody out, and stays in the chain", async () => {
  const { chain } = await beginning();
  const reset = await extend(chain, unsigned(chain, "reset", [gone(alice), gone(bob)]));
  const fresh = await extend(reset, unsigned(reset, "open", [enrolled(mallory)]));
  expect(fresh.entries.map(({ kind }) => kind)).toEqual(["adopted", "open", "signed", "reset", "open"]);
  expect(fresh.entries[3]?.what).toEqual([
    "alice approves nothing any more",
    "bob approves nothing any more",
  ]);
  const both = [gone(alice), enrolled(mallory)];
  await expect(extend(chain, unsigned(chain, "reset", both))).rejects.toThrow("may only remove approvers");
});

test("[B-KEY-2] no change of a byte leaves the head what it was", async () => {
  const { texts, chain } = await beginning();
  const whole = texts.join("\n");
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.constantFrom("0", "a", "}", " "), async (place, char) => {
      fc.pre(whole[place] !== char && whole[place] !== "\n");
      const changed = `${whole.slice(0, place)}${char}${whole.slice(place + 1)}`.split("\n");
      const found = await extend(emptyChain, ...changed).catch(() => undefined);
      expect(found?.head?.hash).not.toBe(chain.head?.hash);
      // Where it still holds, it is the last entry's proof in another spelling, or nothing that was signed.
      if (found !== undefined) expect(changed.slice(0, 2)).toEqual(texts.slice(0, 2));
    }),
    { numRuns: 150 },
  );
  expect(entryHash(texts[2] ?? "")).toBe(chain.head?.hash);
});
