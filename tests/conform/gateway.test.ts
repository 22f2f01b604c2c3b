// The kit against our gateway, as an implementer would run it, and against gateways that are wrong on purpose.
import {
  conformRooms,
  conformTree,
  summarise,
  type Target,
  transcriptsFolder,
  type Verdict,
} from "@mcpx/conform";
import type { TokenClaims } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, up } from "../cli/support/mcpx-process.ts";
import { startTestServer } from "../support/test-server.ts";
import { type Lies, startLyingProxy } from "./support/lying-proxy.ts";

async function startTarget(lies?: Lies): Promise<Target> {
  const server = await startTestServer({ config: { gates: { hold: 0 } } });
  onTestFinished(() => server.stop());
  const mint = (claims: object) => server.token({ topics: [], ...claims } as TokenClaims);
  if (lies === undefined) return { url: server.url, mint };
  const proxy = await startLyingProxy(server.url, lies);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return { url: proxy.url, mint };
}

async function judged(verdicts: AsyncIterable<Verdict>): Promise<Verdict[]> {
  const seen: Verdict[] = [];
  for await (const verdict of verdicts) seen.push(verdict);
  return seen;
}

function faultsOf(verdicts: readonly Verdict[]): string[] {
  return verdicts
    .filter(({ outcome }) => outcome === "differs")
    .map(({ title, detail }) => `${title}: ${detail}`);
}

test("[B-CONF-1] our gateway holds in everything that can be tried from outside, twice in a row", async () => {
  const target = await startTarget();
  for (const _ of [1, 2]) {
    const verdicts = await judged(conformRooms(target, transcriptsFolder));
    expect(faultsOf(verdicts)).toEqual([]);
    expect(verdicts.filter(({ outcome }) => outcome === "holds").length).toBeGreaterThan(40);
    const untried = verdicts.filter(({ outcome }) => outcome === "not tried");
    expect(untried.every(({ detail = "" }) => /^needs|looks at the whole/.test(detail))).toBe(true);
  }
}, 120_000);

test("[B-CONF-1] our tree holds in every case", async () => {
  const verdicts = await judged(conformTree(await startTarget()));
  expect(faultsOf(verdicts)).toEqual([]);
  expect(new Set(verdicts.map(({ outcome }) => outcome))).toEqual(new Set(["holds"]));
}, 120_000);

test("[B-CONF-1] the proxy without a lie holds: it is not what the next tests see", async () => {
  const target = await startTarget({});
  expect(faultsOf(await judged(conformRooms(target, transcriptsFolder)))).toEqual([]);
  expect(faultsOf(await judged(conformTree(target)))).toEqual([]);
}, 120_000);

/** A lie and the requirement whose transcript or case must name it. */
const lies: readonly [what: string, id: string, detail: RegExp, lies: Lies][] = [
  [
    "payloads are written anew",
    "X0-4.1-1",
    /received /,
    { heard: (text) => JSON.stringify(JSON.parse(text)) },
  ],
  [
    "the welcome does not tell the privilege",
    "X1-4.4.1-1",
    /privilege is missing|privilege/,
    { heard: (text) => text.replace(/"privilege":"(full|restricted)"/, '"rank":"$1"') },
  ],
  [
    "acknowledgements have no number",
    "X0-4-8",
    /seq is (missing|undefined)/,
    { heard: (text) => (text.includes('"event":"ack"') ? text.replace(/"seq":\d+,?/, "") : text) },
  ],
  [
    "a foreign sender is let through under the own name",
    "X0-9-3",
    /pass-1|event|wrong_from/,
    { said: (text) => text.replace(/"from": ?"officer[^"]*",?/, "") },
  ],
  [
    "history is oldest first",
    "X0-5.3-3",
    /envelopes/,
    {
      answered: (body, path) => {
        if (!path.includes("/history")) return body;
        const page = JSON.parse(body);
        return JSON.stringify({ ...page, envelopes: page.envelopes?.reverse() });
      },
    },
  ],
  [
    "the deadline of a heartbeat is another",
    "AX-6.2-1",
    /three intervals/,
    { heard: (text) => text.replace('"heartbeat_deadline_ms":15000', '"heartbeat_deadline_ms":5000') },
  ],
  [
    "unknown tools are -32602",
    "AX-5.2-2",
    /-32602/,
    { answered: (body) => body.replaceAll('"code":-32601', '"code":-32602') },
  ],
];

for (const [what, id, detail, lie] of lies) {
  test(`[B-CONF-1] a gateway where ${what} is told so by ${id}`, async () => {
    const target = await startTarget(lie);
    const judge = id.startsWith("AX") ? conformTree(target) : conformRooms(target, transcriptsFolder);
    const verdicts = await judged(judge);
    expect(summarise(verdicts).differs).toContain(id);
    const faults = verdicts.filter(({ outcome, ids }) => outcome === "differs" && ids.includes(id));
    expect(faults.map((fault) => fault.detail).join("\n")).toMatch(detail);
    expect(summarise(verdicts).holds.length, "the rest still holds").toBeGreaterThan(0);
  }, 120_000);
}

test("[B-CONF-1] `mcpx conform` judges the gateway of its data directory, and another with its own tokens", async () => {
  const gateway = await up(scratch());
  const here = await mcpx(["conform", "--json", "--data", gateway.dataDir]);
  const { differs, holds } = JSON.parse(here.out);
  expect(differs).toEqual([]);
  expect(holds).toContain("X0-3-2");
  expect(here.code).toBe(0);
  const refused = await mcpx(["conform", gateway.url, "--data", scratch()]);
  expect(refused.err).toContain("needs tokens of its own; give --token-command CMD");
  expect(refused.code).toBe(2);
  const wrong = await mcpx(["conform", gateway.url, "--only", "rooms", "--token-command", "echo forged"]);
  expect(wrong.code).toBe(1);
  expect(wrong.out).toMatch(/^✗ .*\[?.*X0-3-2/m);
  expect(wrong.out).toContain("401");
}, 120_000);
