// What machines that watch over the gateway are shown, what is written about it, and what looks at it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { mintTokens } from "../faults/support/tokens.ts";
import { type Gated, startGated } from "../gates/support/gated.ts";
import { enterWith } from "../support/enter.ts";

const root = dirname(dirname(import.meta.dirname));
const read = (path: string) => readFileSync(join(root, path), "utf8");

interface Exposed {
  text: string;
  /** Of each metric the labels that were seen, by its name as queries write it. */
  labels: Map<string, Set<string>>;
}

async function scrape(gated: Gated): Promise<Exposed> {
  const text = await (await fetch(`${gated.url()}/metrics`)).text();
  const labels = new Map<string, Set<string>>();
  for (const [, name = "", type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const series = type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
    for (const one of series) labels.set(one, new Set());
  }
  for (const [, name = "", list = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm))
    for (const [, label = ""] of list.matchAll(/(\w+)="/g)) labels.get(name)?.add(label);
  return { text, labels };
}

/** One call that is approved, one that is rejected, one that needs nobody, one of nothing, and a proposal. */
async function makeEverythingHappen(gated: Gated): Promise<void> {
  const agent = await gated.agent("agent");
  const call = (name: string, paper: string) => agent.call(name, { paper });
  await call("papers.look", "a");
  await call("papers.nothing", "a").catch(() => {});
  for (const [paper, ...words] of [
    ["a", "approve", "--yes"],
    ["b", "reject"],
  ] as const) {
    await call("papers.shred", paper);
    const [waiting] = await gated.pending();
    expect(await gated.run(words[0], waiting?.id ?? "", ...words.slice(1))).toMatchObject({ code: 0 });
  }
  await call("papers.shred", "c");
  const topic = "room:metrics";
  const claims = { sub: "novice", topics: [topic], level: "restricted" as const };
  const [token] = await mintTokens(gated.dataDir, [claims]);
  const novice = await enterWith({ url: gated.url() }, token, { topic });
  const payload = { method: "tools/call", params: { name: "heat" } };
  const sent = novice.send({ kind: "mcp/proposal", payload });
  await novice.ack(sent);
  await novice.ack(
    novice.send({ kind: "mcpx.withdraw.proposal", correlation_id: sent, payload: { reason: "so" } }),
  );
  await novice.leave();
}

let exposed: Exposed;

test("[B-OBS-1] calls, gates, decisions, proposals, stores and children are counted", {
  timeout: 60_000,
}, async () => {
  const gated = await startGated();
  await makeEverythingHappen(gated);
  await expect
    .poll(async () => (await scrape(gated)).text)
    .toContain('proposals_total{outcome="withdrawn"} 1');
  exposed = await scrape(gated);
  const lines = exposed.text.split("\n").filter((line) => /^mcpx_(tool|gate|propos|server)/.test(line));
  const expected = [
    'mcpx_tool_calls_total{server="papers",outcome="ok"} 2',
    'mcpx_tool_call_seconds_count{server="papers"} 2',
    'mcpx_tool_calls_refused_total{reason="unknown_tool"} 1',
    'mcpx_gates_opened_total{what="call"} 3',
    'mcpx_gates_decided_total{what="call",outcome="approved"} 1',
    'mcpx_gates_decided_total{what="call",outcome="rejected"} 1',
    'mcpx_gate_decision_seconds_count{what="call",outcome="approved"} 1',
    'mcpx_gates_waiting{what="call"} 1',
    'mcpx_proposal_decision_seconds_count{outcome="withdrawn"} 1',
    'mcpx_servers{state="up"} 1',
    'mcpx_servers{state="idle"} 0',
  ];
  expect(
    expected.filter((line) => !lines.includes(line)),
    lines.join("\n"),
  ).toEqual([]);
  expect(exposed.text).toMatch(/^mcpx_server_processes\{server="papers"\} [1-9]/m);
  expect(exposed.text).toMatch(/^mcpx_server_memory_bytes\{server="papers"\} [1-9]/m);
  expect(exposed.text).toMatch(/^mcpx_store_bytes\{store="topics"\} [1-9]/m);
  for (const secret of ["agent", "novice", "room:metrics", "shred"])
    expect(exposed.text).not.toContain(secret);

  await gated.end("SIGKILL");
  await gated.start();
  const again = (await scrape(gated)).text;
  // What waited is known, and not counted as opened anew.
  expect(again).toContain('mcpx_gates_waiting{what="call"} 1\n');
  expect(again).not.toContain("mcpx_gates_opened_total{");
});

/** The metrics of a query that the gateway does not have, and the labels it groups or picks by that they have not. */
function unknownIn(query: string): string[] {
  const names = [...query.matchAll(/\b(mcpx_\w+)/g)].map(([, name = ""]) => name);
  const missing = names.filter((name) => !exposed.labels.has(name));
  const known = new Set(["instance", "le", "job"]);
  for (const name of names) for (const label of exposed.labels.get(name) ?? []) known.add(label);
  // What has not happened yet has no labels to compare with.
  const isSeen = names.every((name) => exposed.text.includes(`${name}{`));
  const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  const picked = [...query.matchAll(/[{,]\s*(\w+)\s*[=!]/g)].map(([, label = ""]) => label);
  return [...missing, ...(isSeen ? [...grouped, ...picked].filter((label) => !known.has(label)) : [])];
}

test("no panel of the dashboard and no rule asks for what is not there", () => {
  const { panels } = JSON.parse(read("deploy/grafana/mcpx.json")) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(20);
  const rules = read("deploy/prometheus/mcpx-rules.yml").split("- alert: ").slice(1);
  expect(rules.length).toBeGreaterThan(5);
  for (const query of [...queries, ...rules.map((rule) => rule.split("labels:")[0] ?? "")])
    expect(unknownIn(query), query).toEqual([]);
  expect(unknownIn("sum by (sever) (mcpx_tool_calls_total)")).toEqual(["sever"]);
  expect(unknownIn("mcpx_tool_cals_total")).toEqual(["mcpx_tool_cals_total"]);
});

test("docs/METRICS.md lists every metric with its labels", () => {
  const rows = [...read("docs/METRICS.md").matchAll(/^\| `(mcpx_\w+)` \| (.*?) ?\| .+ \|$/gm)];
  const listed = new Map(rows.map(([, name = "", labels = ""]) => [name, labels.replaceAll("`", "")]));
  const types = [...exposed.text.matchAll(/^# TYPE (mcpx_\w+) (\w+)$/gm)].map(([, name = ""]) => name);
  expect([...listed.keys()].sort()).toEqual(
    types.filter((name) => !/^mcpx_(process|nodejs)_/.test(name)).sort(),
  );
  for (const [name, labels] of listed) {
    const series = exposed.labels.get(name) ?? exposed.labels.get(`${name}_count`) ?? new Set();
    if (series.size > 0) expect([name, [...series].join(", ")]).toEqual([name, labels]);
  }
});
