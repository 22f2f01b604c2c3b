import { digestOf, type JsonObject, parseExact } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { followDecisions } from "../figures/load-decisions.ts";
import { createCell } from "./cell.ts";
import { createGates } from "./gates.ts";
import type { RoomStore } from "./room.ts";

const argumentsText = '{"paper":"A"}';
const digest = await digestOf(parseExact(argumentsText));

function gateOf(id: string): JsonObject {
  return {
    id,
    status: "pending",
    tool: "office.shred",
    principal: "agent",
    approvers: 1,
    approvals: [],
    createdAt: "2026-11-16T09:00:00.000Z",
    argumentsText,
    terms: { confirmation_id: id, tool: "office.shred", arguments_digest: digest },
  };
}

/** A gateway at which so many calls wait, and what it is asked for. */
function gatewayWith(count: number, faultAt?: string) {
  const asked: string[] = [];
  const listed = Array.from({ length: count }, (_, i) => gateOf(`g${i}`));
  const api = {
    async call(_method: string, path: string): Promise<JsonObject> {
      asked.push(path);
      if (path === `/admin/gates/${faultAt}`) throw new Error("away");
      if (path.startsWith("/admin/gates/")) return gateOf(path.slice("/admin/gates/".length));
      if (path.startsWith("/admin/audit")) return { records: [] };
      return { gates: path.endsWith("held") ? [] : listed, approvers: [] };
    },
    post: () => Promise.reject(new Error("nothing is posted")),
    follow: () => Promise.reject(new Error("nothing is followed")),
  };
  return { api, asked };
}

/** This gateway answers before anything else happens. */
const allAnswered = () => new Promise((resolve) => setTimeout(resolve));

test("however many gates there are, they are told at once, and asked for no more often than needed", async () => {
  const { api, asked } = gatewayWith(300);
  const gates = createGates(api);
  const rooms = createCell<ReadonlyMap<string, RoomStore>>(new Map());
  const session = createCell({ user: "anna", isDemo: false });
  const seen: number[] = [];
  const lists = () => asked.filter((path) => path === "/admin/gates");
  gates.view.subscribe((all) => seen.push(all.length));
  const decisions = followDecisions({ api, gates, rooms, session });
  await gates.refresh();
  await allAnswered();
  expect(decisions.view.get().decisions).toHaveLength(300);
  expect(seen).toEqual([0, 300]);
  // Each is told, and decisions are asked for once, and once more for what was told meanwhile.
  const before = lists().length;
  for (let i = 0; i < 100; i += 1) gates.forget(`g${i}`);
  expect(seen).toHaveLength(102);
  await allAnswered();
  expect(lists()).toHaveLength(before + 2);
  decisions.stop();
});

test("where one cannot be looked at, those before it are told", async () => {
  const gates = createGates(gatewayWith(5, "g3").api);
  await expect(gates.refresh()).rejects.toThrow("away");
  expect(gates.view.get().map(({ id }) => id)).toEqual(["g0", "g1", "g2"]);
  expect(gates.isStale()).toBe(true);
});
