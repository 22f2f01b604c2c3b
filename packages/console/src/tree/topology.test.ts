import { expect, test } from "vitest";
import { type TreeFacts, type TreeNode, topologyOf } from "./topology.ts";
import { placeTree } from "./tree-places.ts";

const nothing: TreeFacts = {
  name: "mcpx",
  servers: [],
  calls: {},
  tools: [],
  parents: [],
  devices: [],
  rooms: [],
  waiting: [],
};
const server = (name: string, more: object = {}) => ({ name, segment: name, state: "up", tools: 0, ...more });
const tool = (name: string, annotations?: object) => ({ name, ...(annotations && { annotations }) });
const sketch = ({ kind, name, children }: TreeNode): unknown =>
  children.length === 0 ? `${kind} ${name}` : { [`${kind} ${name}`]: children.map(sketch) };

test("[AX-3.1-1] names with the root's segment are placed by what follows it, and the root is called after it", () => {
  const { root } = topologyOf({
    ...nothing,
    segment: "infra",
    servers: [server("edge", { aggregator: true })],
    tools: ["infra.edge.cell.press", "infra.edge.mcpax.status", "mcpax.status"].map((one) => tool(one)),
    waiting: [{ tool: "infra.edge.cell.press", topic: undefined }],
  });
  expect(sketch(root)).toEqual({ "gateway infra": [{ "tree edge": ["part cell"] }] });
  expect(root.children[0]).toMatchObject({ tools: 2, waiting: 1 });
});

test("servers, trees below with their parts, devices, and rooms with who is there", () => {
  const { root, above } = topologyOf({
    ...nothing,
    servers: [
      server("mcpax"),
      server("office"),
      server("edge", { aggregator: true }),
      server("arm"),
      server("bakery", { room: "bakery" }),
    ],
    tools: ["office.shred", "edge.cell.press", "edge.cell.arm.turn", "edge.mcpax.status"].map((one) =>
      tool(one),
    ),
    parents: [{ url: "https://above.example", segment: "plant", state: "registered" }],
    devices: [{ segment: "arm" }],
    rooms: [{ name: "kitchen", participants: 1, state: "live", members: [{ id: "anna" }] }],
  });
  expect(sketch(root)).toEqual({
    "gateway mcpx": [
      "server office",
      { "tree edge": [{ "part cell": ["part arm"] }] },
      "device arm",
      "room bakery",
      { "room kitchen": ["member anna"] },
    ],
  });
  expect(above).toMatchObject([{ name: "https://above.example", health: "up", word: "registered as plant" }]);
});

test("each says how it is, how slow, how dangerous, and how much waits", () => {
  const { root } = topologyOf({
    ...nothing,
    servers: [
      server("office", { latency: { calls: 40, p50_ms: 12, p95_ms: 80 } }),
      server("edge", { state: "degraded", degraded: { reason: "no heartbeat" } }),
      server("shop", { state: "idle", conversations: 1 }),
      server("odd", { state: "needs authorisation", fault: "late", authorise_url: "http://idp" }),
    ],
    tools: [
      tool("office.shred", { destructiveHint: true, readOnlyHint: false }),
      tool("office.read", { readOnlyHint: true }),
      tool("office.mystery"),
    ],
    calls: { office: { answered: 39, failed: 1 } },
    waiting: [
      { tool: "office.shred", topic: undefined },
      { tool: "office.shred", topic: "kitchen" },
    ],
    rooms: [{ name: "kitchen", participants: 0, state: "reconnecting", members: [] }],
  });
  const [office, edge, shop, odd, kitchen] = root.children;
  expect(root.waiting).toBe(2);
  expect(office).toMatchObject({
    health: "up",
    latency: { p50Ms: 12, p95Ms: 80, calls: 40 },
    calls: { answered: 39, failed: 1 },
    tools: 3,
    dangerous: 1,
    silent: 1,
    waiting: 1,
  });
  expect(edge).toMatchObject({ health: "degraded", word: "degraded", fault: "Lost: no heartbeat" });
  expect(shop).toMatchObject({ health: "starting" });
  expect(odd).toMatchObject({ health: "unknown", word: "needs authorisation" });
  expect(odd?.fault).toBe("Needs authorisation: open http://idp");
  expect(kitchen).toMatchObject({ health: "ailing", waiting: 1 });
});

test("a part below whose tools are all lost is lost, and one at the root has what is nobody else's", () => {
  const lost = { _meta: { "x-mcpax-capability": { availability: "degraded" } } };
  const { root } = topologyOf({
    ...nothing,
    servers: [server("edge", { aggregator: true }), server("main", { segment: null })],
    tools: [{ name: "edge.cell.press", ...lost }, tool("edge.mill.cut"), tool("plain"), tool("mcpax.status")],
  });
  const [edge, main] = root.children;
  expect(edge?.children.map(({ name, health }) => [name, health])).toEqual([
    ["cell", "degraded"],
    ["mill", "up"],
  ]);
  expect(main?.tools).toBe(1);
});

test("however many there are, the picture is bounded, and what is hidden is not said to be well", () => {
  const servers = Array.from({ length: 5_000 }, (_, i) =>
    server(`s${i}`, { state: i === 4_000 ? "down" : "up" }),
  );
  const { root } = topologyOf({ ...nothing, servers });
  expect(root.children).toHaveLength(100);
  expect(root.children.at(-1)).toMatchObject({
    name: "4901 more servers",
    health: "down",
    word: "worst: down",
  });
});

test("however deep and broad the tree is, the picture has 500 nodes at most, and says how many are hidden", () => {
  const parts = Array.from({ length: 40 }, (_, i) => i);
  const servers = Array.from({ length: 300 }, (_, i) => server(`s${i}`, { aggregator: true }));
  const tools = servers.flatMap(({ name }) => parts.map((i) => tool(`${name}.p${i}.q${i}.r.press`)));
  const members = parts.map((i) => ({ id: `m${i}` }));
  const rooms = parts.map((i) => ({ name: `r${i}`, participants: 40, state: "live", members }));
  const { root } = topologyOf({ ...nothing, servers, tools, rooms });
  const all = (one: TreeNode): TreeNode[] => [one, ...one.children.flatMap(all)];
  expect(all(root).length).toBeLessThanOrEqual(500);
  expect(all(root).length).toBeGreaterThan(450);
  // The nearest are all there; each says what it has below, be it seen or counted.
  expect(root.children).toHaveLength(140);
  const below = ({ children }: TreeNode) => children.reduce((sum, one) => sum + (one.hidden || 1), 0);
  const counts = root.children.filter(({ kind }) => kind !== "more").map(below);
  expect(new Set(counts)).toEqual(new Set([40]));
  expect(root.children[98]?.children.at(-1)?.name).toBe("40 more parts");
});

test("whatever they are called, no two nodes are taken for one", () => {
  const { root, above } = topologyOf({
    ...nothing,
    servers: [server("a"), { ...server("a"), segment: "b" }, { ...server("constructor"), segment: null }],
    rooms: [{ name: "a", participants: 1, state: "live", members: [{ id: "a" }] }],
    parents: [
      { url: "https://x", segment: "one", state: "registered" },
      { url: "https://x", segment: "two", state: "registered" },
    ],
  });
  const keysOf = (node: TreeNode): string[] => [node.key, ...node.children.flatMap(keysOf)];
  const keys = [root, ...above].flatMap(keysOf);
  expect(new Set(keys).size).toBe(keys.length);
  expect(root.children[2]?.calls).toBeUndefined();
});

interface Twig {
  key: string;
  children: Twig[];
}
const twig = (key: string, ...children: Twig[]): Twig => ({ key, children });
const size = { widthPx: 900, nodePx: 200, gapPx: 10, heightOf: () => 60 };
const tree = twig("root", twig("a", twig("a1"), twig("a2")), twig("b"));

test("with room for columns, each stands beside the middle of what is below it, and none on another", () => {
  const { nodes, lines, widthPx, heightPx } = placeTree(tree, size);
  const at = Object.fromEntries(nodes.map(({ node, x, y }) => [node.key, { x, y }]));
  expect(nodes.map(({ node }) => node.key)).toEqual(["root", "a", "a1", "a2", "b"]);
  expect(at.a?.y).toBe(((at.a1?.y ?? 0) + (at.a2?.y ?? 0)) / 2);
  expect(at.root?.x).toBeLessThan(at.a?.x ?? 0);
  expect(at.b?.x).toBe(at.a?.x);
  expect(lines.map(({ key }) => key).sort()).toEqual(["a", "a1", "a2", "b"]);
  expect(widthPx).toBeLessThanOrEqual(size.widthPx);
  expect(heightPx).toBe(3 * 60 + 2 * 10);
});

test("without, it is a list that steps in", () => {
  const { nodes, widthPx, heightPx } = placeTree(tree, { ...size, widthPx: 360 });
  expect(nodes.map(({ node, y }) => [node.key, y])).toEqual([
    ["root", 0],
    ["a", 70],
    ["a1", 140],
    ["a2", 210],
    ["b", 280],
  ]);
  expect(nodes.every(({ x, widthPx: own }) => x + own <= 360)).toBe(true);
  expect([widthPx, heightPx]).toEqual([360, 340]);
});

test("a high node with little below it takes its own room", () => {
  const uneven = twig("root", twig("high", twig("low")), twig("b"));
  const { nodes } = placeTree(uneven, { ...size, heightOf: ({ key }) => (key === "high" ? 100 : 30) });
  const at = Object.fromEntries(nodes.map((one) => [one.node.key, one]));
  expect((at.high?.y ?? 0) + (at.high?.heightPx ?? 0)).toBeLessThanOrEqual(at.b?.y ?? 0);
  expect((at.low?.y ?? 0) + 15).toBe((at.high?.y ?? 0) + 50);
});
