// Annotations on their way up: what a server has said goes on as it is, and what each hop believes travels beside it.
import type { JsonObject } from "@mcpx/protocol";
import { harmless } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { callerOf, type TestTree, testTree } from "../testing/test-tree.ts";

const levels = 3;

interface Leaf {
  isTrusted?: boolean;
  annotations?: JsonObject;
  /** What each tree above the first thinks of the one below it. */
  areTrusted?: boolean;
}

/** The `_meta` of a leaf's tool at the root, three trees above it. */
async function metaAbove(meta: JsonObject | undefined, options: Leaf = {}): Promise<JsonObject | undefined> {
  return (await above(meta, options)).tool?._meta as JsonObject | undefined;
}

async function above(
  meta: JsonObject | undefined,
  { isTrusted = true, annotations, areTrusted = true }: Leaf,
) {
  const item = {
    name: "t",
    inputSchema: { type: "object" },
    ...(annotations && { annotations }),
    ...(meta && { _meta: meta }),
  };
  const leaf = inProcessServer({ tools: [item] });
  let tree: TestTree = testTree([serverOptions("leaf", leaf.open, { isTrusted })]);
  for (let level = 1; level < levels; level += 1) {
    const open = openBelow(tree.tree, callerOf().principal);
    tree = testTree([serverOptions(`n${level}`, open, { isTrusted: areTrusted })]);
  }
  const tools = (await tree.ask("tools/list", {}, { tools: ["n2.n1.leaf.*"] })).tools as JsonObject[];
  return { tree, tool: tools[0] };
}

const worst = {
  latency_class: "standard",
  consistency: "best_effort",
  mutable: true,
  reversible: false,
  idempotent: false,
  transport: "native",
  auth_scope: "admin",
  cost_class: "expensive",
  availability: "best_effort",
  schema_version: "0.0.0",
};

test.each<[string, unknown, object]>([
  ["nothing but one field", { mutable: false }, { ...worst, mutable: false }],
  ["nothing", {}, worst],
  [
    "fields of a vendor",
    { ...harmless, "com.example/blast_radius": { rooms: [1, 2.5, null] }, zone: "7" },
    { ...harmless },
  ],
  [
    "values nobody knows",
    { ...harmless, latency_class: "glacial", cost_class: "ruinous", availability: "sometimes" },
    { ...harmless, latency_class: "standard", cost_class: "expensive", availability: "best_effort" },
  ],
  [
    "wrong types",
    { ...harmless, mutable: "no", reversible: 1, idempotent: null, transport: 7, auth_scope: [] },
    {
      ...harmless,
      mutable: true,
      reversible: false,
      idempotent: false,
      transport: "native",
      auth_scope: "admin",
    },
  ],
  ["a text", "harmless", worst],
  ["null", null, worst],
  ["a list", [harmless], worst],
])(
  "[AX-9.2-1] [AX-9.2-2] an annotation with %s arrives three trees above as it was said",
  async (_what, said, believed) => {
    const meta = await metaAbove({ "x-mcpax-capability": said, "com.example/other": 1 });
    const isIrreversible =
      (believed as JsonObject).mutable === true && (believed as JsonObject).reversible === false;
    expect(meta).toEqual({
      "com.example/other": 1,
      "x-mcpax-capability": said,
      "x-mcpax-believed": believed,
      "x-mcpax-hops": 3,
      ...(isIrreversible && { "x-mcpax-safety": "irreversible_mutable" }),
    });
    // The very same text: not even the order of its fields is another.
    expect(JSON.stringify(meta?.["x-mcpax-capability"])).toBe(JSON.stringify(said));
  },
);

test("[AX-9.1-2] [AX-9.2-1] what an unproven server says goes up as it is, what is believed of it does not", async () => {
  const meta = await metaAbove({ "x-mcpax-capability": harmless }, { isTrusted: false });
  expect(meta).toMatchObject({
    "x-mcpax-capability": harmless,
    "x-mcpax-believed": {
      mutable: true,
      reversible: false,
      idempotent: false,
      auth_scope: "write",
      cost_class: "metered",
    },
    "x-mcpax-safety": "irreversible_mutable",
  });
});

test("[AX-9.1-1] for a plain server the tree it is attached to says what it believes; its own hints stay as they are", async () => {
  const annotations = { readOnlyHint: true, title: "Look", "com.example/x": 1 };
  const { tool } = await above(undefined, { annotations });
  expect(tool?.annotations).toEqual(annotations);
  const read = {
    mutable: false,
    reversible: true,
    idempotent: true,
    auth_scope: "read",
    cost_class: "metered",
  };
  expect(tool?._meta).toMatchObject({
    "x-mcpax-capability": read,
    "x-mcpax-believed": read,
    "x-mcpax-hops": 3,
  });
});

test("[AX-9.2-2] a hop that says it believes less loosens nothing the leaf has said, nor what was believed before", async () => {
  const said = { ...harmless, mutable: true, reversible: false, auth_scope: "admin" };
  const lie = { "x-mcpax-capability": said, "x-mcpax-believed": harmless };
  expect((await metaAbove(lie))?.["x-mcpax-believed"]).toEqual(said);
  const other = { "x-mcpax-capability": harmless, "x-mcpax-believed": said };
  expect(await metaAbove(other)).toMatchObject({ "x-mcpax-capability": harmless, "x-mcpax-believed": said });
});

test("[AX-9.2-1] an annotation that is too long is not passed on: its tool is left out, and named", async () => {
  const tools = (["x-mcpax-capability", "x-mcpax-believed"] as const).flatMap((key) =>
    [8_192, 8_193, 900_000].map((chars) => {
      const note = "x".repeat(chars - JSON.stringify({ ...harmless, note: "" }).length);
      const _meta = { "x-mcpax-capability": harmless, [key]: { ...harmless, note } };
      return { name: `${key}-${chars}`, inputSchema: { type: "object" }, _meta };
    }),
  );
  const server = inProcessServer({ tools });
  const { ask } = testTree([serverOptions("s", server.open, { isTrusted: true })]);
  const listed = (await ask("tools/list", {}, { tools: ["s.*"] })).tools as JsonObject[];
  expect(listed.map(({ name }) => name)).toEqual(["s.x-mcpax-believed-8192", "s.x-mcpax-capability-8192"]);
  const { structuredContent } = await ask("tools/call", { name: "mcpax.status" });
  const { servers } = structuredContent as { servers: { name: string; left_out: string[] }[] };
  const leftOut = servers.find(({ name }) => name === "s")?.left_out ?? [];
  expect(leftOut).toHaveLength(4);
  for (const key of ["x-mcpax-capability", "x-mcpax-believed"])
    expect(leftOut).toContain(`${key}-8193: its ${key} is longer than 8192 characters`);
});

test("[AX-9.2-4] [AX-9.2-1] the path raises the class of an annotation that has one, and fills none in", async () => {
  for (const [said, shown] of [
    [
      { latency_class: "fast", zone: 1 },
      { latency_class: "slow", zone: 1 },
    ],
    [
      { latency_class: "slow", zone: 1 },
      { latency_class: "slow", zone: 1 },
    ],
    [{ zone: 1 }, { zone: 1 }],
    [{ latency_class: "glacial" }, { latency_class: "glacial" }],
  ] as [JsonObject, JsonObject][]) {
    const server = inProcessServer({
      tools: [{ name: "t", inputSchema: { type: "object" }, _meta: { "x-mcpax-capability": said } }],
      handle({ method }) {
        if (method === "tools/call") clock.advance(40_000);
        return undefined as never;
      },
    });
    const { ask, clock } = testTree([serverOptions("s", server.open, { isTrusted: true })]);
    for (let i = 0; i < 24; i += 1) await ask("tools/call", { name: "s.t" });
    const [tool] = (await ask("tools/list", {}, { tools: ["s.*"] })).tools as { _meta: JsonObject }[];
    expect(tool?._meta["x-mcpax-capability"]).toEqual(shown);
  }
});

test("[AX-9.2-2] what the operator sets is believed and shown beside the annotation, which stays", async () => {
  const said = { ...harmless, mutable: true, reversible: true, vendor: 1 };
  const server = inProcessServer({
    tools: [{ name: "t", inputSchema: { type: "object" }, _meta: { "x-mcpax-capability": said } }],
  });
  const tools = new Map([["t", { capability: { reversible: false, latency_class: "slow" as const } }]]);
  const { ask } = testTree([serverOptions("s", server.open, { isTrusted: true, overrides: { tools } })]);
  const [tool] = (await ask("tools/list", {}, { tools: ["s.*"] })).tools as { _meta: JsonObject }[];
  expect(tool?._meta).toMatchObject({
    "x-mcpax-capability": said,
    "x-mcpax-believed": { mutable: true, reversible: false, latency_class: "slow" },
    "x-mcpax-safety": "irreversible_mutable",
  });
});
