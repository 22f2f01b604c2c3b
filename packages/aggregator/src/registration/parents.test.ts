import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { defaultLimits, subtreeIdsMax } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import type { ParentParts } from "./parent.ts";
import { registerAtAll } from "./parents.ts";

/** A tree above that will not have us, each time because of other ids. */
async function startRefusing() {
  const named: string[] = [];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  server.on("connection", (socket) =>
    socket.on("message", (data) => {
      const { id } = JSON.parse(String(data));
      const ids = Array.from({ length: 3_000 }, () => randomUUID());
      named.push(...ids);
      const closing_ids = [...ids, "not an id".repeat(1_000), 7];
      const error = { code: -32_001, message: "no", data: { reason: "registration_cycle", closing_ids } };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, error }));
    }),
  );
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, named };
}

test("a parent that names other ids each time fills nothing: those it named last are known", async () => {
  const { url, named } = await startRefusing();
  const learned: string[] = [];
  const parts = {
    subserverId: randomUUID(),
    onCycle: (ids: readonly string[]) => learned.push(...ids),
    limits: defaultLimits,
    log: { info() {}, warn() {}, error() {}, debug() {} },
  };
  const parents = registerAtAll([{ url, segment: "below" }], parts as unknown as ParentParts);
  onTestFinished(() => parents.close());
  await expect.poll(() => learned.length, { timeout: 30_000 }).toBeGreaterThan(subtreeIdsMax + 3_000);
  const known = parents.ids();
  expect(known.size).toBe(subtreeIdsMax);
  expect(learned.every((id) => id.length === 36)).toBe(true);
  const last = named.slice(0, learned.length).slice(-subtreeIdsMax);
  expect(last.every((id) => known.has(id))).toBe(true);
});
