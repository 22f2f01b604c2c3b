import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { drawTree, type TreePicture } from "./tree-drawing.ts";

const plain = { paint: (_style: string, text: string) => text };
const painted = { paint: (style: string, text: string) => `<${style}>${text}</>` };
const base = { era: "modern", tools: 1, conversations: 1, state: "up" };

function tool(name: string, capability: JsonObject = {}, more: JsonObject = {}): JsonObject {
  const said = { latency_class: "standard", availability: "always", ...capability };
  return { name, description: `What ${name} does`, ...more, _meta: { "x-mcpax-capability": said } };
}

function server(segment: string, more: JsonObject = {}): JsonObject {
  return { ...base, name: segment, segment, ...more };
}

function draw(servers: JsonObject[], more: Partial<TreePicture> = {}, output = plain): string[] {
  const report = { servers, ...more.report };
  return drawTree({ url: "http://here", tools: [], isFull: false, ...more, report }, output);
}

const registered = { registered: true, scope: "write", proven: true, authority: null };

test("servers, those that registered among them, with what is known of them", () => {
  const lines = draw(
    [
      server("mcpax", { tools: 4, latency: { calls: 99, p50_ms: 1, p95_ms: 2 } }),
      server("files", { tools: 14, era: "legacy", latency: { calls: 20, p50_ms: 3.1, p95_ms: 12.5 } }),
      server("oven", {
        ...registered,
        heartbeat: { interval_ms: 5_000, last_ms_ago: 1_234 },
        budget: {
          max_calls_per_minute: { limit: 60, used: 3 },
          max_mutable_calls_per_session: { limit: 10, used: 2 },
        },
      }),
      server("lamp", { ...registered, scope: "read", proven: false }),
    ],
    { tools: [tool("oven.heat", { latency_class: "fast" })] },
  );
  expect(lines).toEqual([
    "mcpx http://here  3 of 3 servers are up",
    "├─ ● mcpax  built in, 4 tools, modern",
    "├─ ● files  14 tools, legacy, p95 12.5 ms",
    "├─ ● oven  1 tool, modern, registered (write), fast, last heartbeat 1.2 s ago",
    "│     budget: 3 of 60 calls in a minute, 2 of 10 changes",
    "└─ ● lamp  1 tool, modern, registered (read, not proven)",
  ]);
});

const below = [
  tool("edge.mcpax.status"),
  tool("edge.plc.read", { latency_class: "fast" }),
  tool("edge.plc.write", { latency_class: "slow" }),
  tool("edge.line.sensor.read", { availability: "degraded" }),
  tool("edge.line.mcpax.status"),
];

test("what stands below a tree is drawn by the dots in its names, without the trees' own tools", () => {
  const lines = draw([server("edge", { ...registered, aggregator: true, tools: 5 }), server("last")], {
    tools: below,
  });
  expect(lines.slice(1)).toEqual([
    "├─ ● edge  3 tools, modern, registered (write), fast to slow",
    "│  ├─ ● plc  2 tools, fast to slow",
    "│  └─ ● line  1 tool, standard",
    "│     └─ ◐ sensor  degraded, 1 tool, standard",
    "└─ ● last  1 tool, modern",
  ]);
});

test("[AX-3.1-1] the root's segment is said once, at the top, and nowhere below", () => {
  const lines = draw([server("edge", { ...registered, aggregator: true, tools: 5 })], {
    report: { segment: "infra" },
    tools: below.map((one) => ({ ...one, name: `infra.${one.name}` })),
  });
  expect(lines).toEqual([
    "infra http://here  1 of 1 server is up",
    "└─ ● edge  3 tools, modern, registered (write), fast to slow",
    "   ├─ ● plc  2 tools, fast to slow",
    "   └─ ● line  1 tool, standard",
    "      └─ ◐ sensor  degraded, 1 tool, standard",
  ]);
});

test("with every tool, where it is", () => {
  const dangerous = tool("edge.plc.stop");
  dangerous._meta = { ...(dangerous._meta as JsonObject), "x-mcpax-safety": "irreversible_mutable" };
  const lines = draw([server("edge", { ...registered, aggregator: true }), server("last")], {
    tools: [tool("edge.mcpax.status"), tool("edge.plc.read"), dangerous, tool("last.look")],
    isFull: true,
  });
  expect(lines.slice(1)).toEqual([
    "├─ ● edge  2 tools, modern, registered (write), standard",
    "│  ├─ ● mcpax  1 tool, standard",
    "│  │     status  What edge.mcpax.status does",
    "│  └─ ● plc  2 tools, standard",
    "│        read  What edge.plc.read does",
    "│        stop !  What edge.plc.stop does",
    "└─ ● last  1 tool, modern",
    "      look  What last.look does",
  ]);
});

test("a server at the root has the tools that are nobody else's", () => {
  const lines = draw([server("root", { segment: null }), server("files")], {
    tools: [tool("files.read"), tool("search"), tool("a.b")],
    isFull: true,
  });
  expect(lines.slice(1, 4)).toEqual([
    "├─ ● (root)  1 tool, modern",
    "│     search  What search does",
    "│     a.b  What a.b does",
  ]);
});

test("what is lost says since when, and until when it is listed; a budget that is used up stands out", () => {
  const lost = server("jira", {
    ...registered,
    authority: "dns:jira.example.com",
    state: "degraded",
    conversations: 0,
    degraded: {
      since: "2026-11-16T03:32:11.000Z",
      until: "2026-11-16T03:37:11.000Z",
      reason: "the connection has ended (1006)",
    },
    last_loss: "not said twice",
    budget: { max_cost_units_per_session: { limit: 10, used: 10 } },
  });
  expect(draw([lost], {}, painted)).toEqual([
    "<bold>mcpx</> http://here  <dim>0 of 1 server is up, 1 degraded</>",
    "└─ <yellow>◐</> jira  <dim>degraded, 1 tool, modern, registered (dns:jira.example.com, write)</>",
    "      <dim>lost at 2026-11-16 03:32:11, listed until 03:37:11: the connection has ended (1006)</>",
    "      <yellow>budget: 10 of 10 cost units</>",
  ]);
});

test("the trees above", () => {
  const parents = [
    { url: "wss://global.example.com", segment: "eu", state: "registered" },
    { url: "wss://other.example.com", segment: "eu", state: "waiting" },
  ];
  expect(draw([], { report: { parents } })).toEqual([
    "mcpx http://here",
    "↑ eu of wss://global.example.com  registered",
    "↑ eu of wss://other.example.com  waiting",
  ]);
});

test("no line about a server is wider than 100 columns: what matters least is left out", () => {
  const wide = server("s".repeat(45), {
    ...registered,
    heartbeat: { interval_ms: 5_000, last_ms_ago: 0 },
    latency: { calls: 64, p50_ms: 1, p95_ms: 100_000 },
  });
  const deep = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t";
  const lines = draw([wide, server("deep", { ...registered, aggregator: true })], {
    tools: [tool(`deep.${deep}`), tool(`${"s".repeat(45)}.t`)],
  });
  expect(lines[1]).toBe(`├─ ● ${"s".repeat(45)}  1 tool, modern, registered (write), standard`);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100);
});

test("nothing a stranger has named reaches the terminal raw", () => {
  const lines = draw([server("a\u001b[2J", { ...registered, authority: "dns:\u202e" })], {
    tools: [tool("a\u001b[2J.x\u0007")],
    isFull: true,
    report: { parents: [{ url: "wss://\u001bx", segment: "\u0007", state: "\u0000" }] },
  });
  expect(lines.join("")).not.toMatch(/\p{Cc}|\p{Cf}/u);
});

test("a server of both eras, and one whose era was set, say so", () => {
  const lines = draw([
    server("notes", { era: "both" }),
    server("old", { era: "legacy", era_set: "legacy" }),
    server("fresh", { era: null }),
  ]);
  expect(lines.slice(1)).toEqual([
    "├─ ● notes  1 tool, both eras",
    "├─ ● old  1 tool, legacy as set",
    "└─ ● fresh  1 tool",
  ]);
});
