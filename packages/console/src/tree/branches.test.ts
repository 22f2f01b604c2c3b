import { expect, test } from "vitest";
import { branchesOf, searchBranches, shareOut } from "./branches.ts";

const server = (name: string, segment: unknown = name) => ({ name, segment, state: "up" });
const tools = ["office.shred", "office.print", "lab.arm.move", "lab.look", "mcpax.status", "stray"].map(
  (name) => ({ name }),
);

test("each tool stands under its server, the one with the longest segment", () => {
  const branches = branchesOf({
    servers: [server("office"), server("lab"), server("arm", "lab.arm"), server("mcpax")],
    tools,
    root: undefined,
  });
  expect(branches.map(({ name, tools: own }) => [name, own.map(({ short }) => short)])).toEqual([
    ["office", ["shred", "print"]],
    ["lab", ["look"]],
    ["arm", ["move"]],
  ]);
});

test("without the root's own segment", () => {
  const branches = branchesOf({
    servers: [server("office")],
    tools: [{ name: "home.office.shred" }],
    root: "home",
  });
  expect(branches[0]?.tools).toEqual([{ name: "home.office.shred", short: "shred" }]);
});

test("a search leaves tools by their name, and all of a server by its own", () => {
  const branches = branchesOf({ servers: [server("office"), server("lab")], tools, root: undefined });
  const found = searchBranches(branches, " PRINT ");
  expect(found.map(({ name, tools: own }) => [name, own.length])).toEqual([["office", 1]]);
  expect(searchBranches(branches, "lab")[0]?.tools).toHaveLength(2);
  expect(searchBranches(branches, "nothing")).toEqual([]);
});

test("open servers share what is shown at once", () => {
  const branches = branchesOf({ servers: [server("office"), server("lab")], tools, root: undefined });
  expect([...shareOut(branches, () => true, 3)]).toEqual([
    ["office", 2],
    ["lab", 1],
  ]);
  expect([...shareOut(branches, ({ name }) => name === "lab", 9)]).toEqual([["lab", 2]]);
});

test("ten thousand tools of two hundred servers take no time", () => {
  const servers = Array.from({ length: 200 }, (_, i) => server(`s${i}`));
  const many = Array.from({ length: 10_000 }, (_, i) => ({ name: `s${i % 200}.tool-${i}` }));
  const began = performance.now();
  const branches = branchesOf({ servers, tools: many, root: undefined });
  expect(performance.now() - began).toBeLessThan(200);
  expect(branches.every(({ tools: own }) => own.length === 50)).toBe(true);
});
