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
const memberOf = (id: string) =>
  ({
    principal: { issuer: "local", id, jti: id, admin: false },
    backlog: { bytes: 0, hold: undefined },
  }) as unknown as Member;

test("little is not counted, much is held for its principal, and nothing when it is done", () => {
  const member = memberOf("alice");
  const small = keepInMemory({ ledger }, member, 1_000);
  expect(ledger.heldBytes).toBe(0);
  const large = keepInMemory({ ledger }, member, 100_000);
  expect(ledger.heldBytes).toBe(small.bytes + large.bytes);
  giveBack(member, small);
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
  const first = keepInMemory({ ledger }, one, 250_000);
  expect(() => keepInMemory({ ledger }, other, 250_000)).toThrow("bytes of memory");
  expect(ledger.heldBytes).toBe(first.bytes);
  // What is ordinary passes all the same.
  const small = keepInMemory({ ledger }, other, 200);
  const ofBob = keepInMemory({ ledger }, bob, 250_000);
  giveBack(other, small);
  giveBack(one, first);
  const again = keepInMemory({ ledger }, other, 250_000);
  giveBack(other, again);
  giveBack(bob, ofBob);
  expect(ledger.heldBytes).toBe(0);
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
