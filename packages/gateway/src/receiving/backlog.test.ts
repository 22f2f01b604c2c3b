import { setImmediate } from "node:timers/promises";
import { createByteLedger, createManualClock, createMetrics } from "@mcpx/host";
import { defaultLimits, levelTable } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { createGatewayMetrics } from "../room/gateway-metrics.ts";
import { defaultOptions, type Gateway } from "../room/gateway-state.ts";
import { OpenProposals } from "../room/open-proposals.ts";
import { Rates } from "../room/rates.ts";
import { createRoom, type Member } from "../room/room.ts";
import { createMemoryTopicLog } from "../topic-log/memory.ts";
import { MemorySocket } from "../transports/memory.ts";
import { giveBack, keepInMemory } from "./backlog.ts";
import { receive } from "./receive.ts";

const ledger = createByteLedger({ heldBytesMax: 4_000_000, heldBytesPerPrincipalMax: 1_000_000 });
const gatewayPart = { ledger, options: { ...defaultOptions, servingIds: ["tree"] } };
const memberOf = (id: string) =>
  ({
    participant: { id },
    principal: { issuer: "local", id, jti: id, admin: false, tokenHash: id === "tree" ? "" : "hash" },
    backlog: { bytes: 0, hold: undefined },
  }) as unknown as Member;

test("little is not counted, much is held for its principal, and nothing when it is done", () => {
  const member = memberOf("alice");
  const little = keepInMemory(gatewayPart, member, 1_000);
  expect(ledger.heldBytes).toBe(0);
  const large = keepInMemory(gatewayPart, member, 100_000);
  expect(ledger.heldBytes).toBe(little.bytes + large.bytes);
  giveBack(member, little);
  expect(ledger.heldBytes).toBe(large.bytes);
  // Somebody else works on it.
  large.users += 1;
  giveBack(member, large);
  expect(ledger.heldBytes).toBe(large.bytes);
  giveBack(member, large);
  expect([ledger.heldBytes, member.backlog]).toEqual([0, { bytes: 0, hold: undefined }]);
});

test("what does not fit is refused and leaves no trace; connections of one principal count together, others apart", () => {
  const [one, other, bob] = [memberOf("alice"), memberOf("alice"), memberOf("bob")];
  const first = keepInMemory(gatewayPart, one, 250_000);
  expect(() => keepInMemory(gatewayPart, other, 250_000)).toThrow("bytes of memory");
  expect(ledger.heldBytes).toBe(first.bytes);
  // What is ordinary passes all the same.
  const little = keepInMemory(gatewayPart, other, 200);
  const ofBob = keepInMemory(gatewayPart, bob, 250_000);
  giveBack(other, little);
  giveBack(one, first);
  const again = keepInMemory(gatewayPart, other, 250_000);
  giveBack(other, again);
  giveBack(bob, ofBob);
  expect(ledger.heldBytes).toBe(0);
});

test("one of ours that answers others is never refused for what they have asked", () => {
  const tree = memberOf("tree");
  const answers = Array.from({ length: 10 }, () => keepInMemory(gatewayPart, tree, 250_000));
  for (const one of answers) giveBack(tree, one);
  expect(ledger.heldBytes).toBe(0);
  // Control: nobody is that by an id alone.
  const thief = memberOf("tree");
  Object.assign(thief.principal, { tokenHash: "hash" });
  const kept = keepInMemory(gatewayPart, thief, 250_000);
  expect(() => keepInMemory(gatewayPart, thief, 250_000)).toThrow("bytes of memory");
  giveBack(thief, kept);
});

test("an envelope is held until it is in the log, however long that takes", async () => {
  const clock = createManualClock();
  const metrics = createGatewayMetrics(createMetrics());
  const log = createMemoryTopicLog();
  const opened = Promise.withResolvers<void>();
  const slow: typeof log = {
    ...log,
    append: async (entry) => {
      await opened.promise;
      return await log.append(entry);
    },
  };
  const events = { text: () => {}, fault: () => {}, closed: () => {} };
  const [limits, rates] = [defaultLimits, new Rates(defaultLimits)];
  const room = createRoom("room", slow, true, 0);
  const gateway = {
    ...{ clock, metrics, limits, rates, ledger, levelTable, options: defaultOptions },
    ...{ openProposals: new OpenProposals(), proposalListeners: new Set() },
    rooms: new Map([["room", room]]),
  } as unknown as Gateway;
  const socket = new MemorySocket(limits, clock.monotonic, events);
  const member = {
    ...memberOf("alice"),
    ...{ room, socket, key: "alice", participant: { id: "alice" }, level: "full", protocol: "mcpx/v0.1" },
    ...{ waiting: 0, tail: Promise.resolve(), isProtocolFixed: true, position: 0 },
  } as unknown as Member;
  Object.assign(member.principal, { expiresAt: Number.POSITIVE_INFINITY });
  const payload = { text: "x".repeat(100_000) };
  receive(gateway, member, JSON.stringify({ protocol: "mcpx/v0.1", id: "e1", kind: "chat", payload }));
  await setImmediate();
  expect([member.waiting, ledger.heldBytes > 200_000]).toEqual([0, true]);
  opened.resolve();
  await expect.poll(() => ledger.heldBytes).toBe(0);
  expect(member.backlog).toEqual({ bytes: 0, hold: undefined });
});
