import type { RegistrationAnswer } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { Lease } from "./lease.ts";

const answer = (lease_ms: number) => ({ aggregator_id: "a", lease_ms }) as RegistrationAnswer;

test("[AX-13.3-3] [AX-13.4-2] the parent is the parent until the lease is over, connected or not", () => {
  const lease = new Lease();
  expect([lease.parentId(0), lease.leftMs(0)]).toEqual([null, 0]);
  lease.begin(answer(1_000), 5_000);
  lease.renew(5_500);
  // The answer to an earlier heartbeat takes nothing away.
  lease.renew(5_200);
  lease.loseConnection();
  expect([lease.parentId(6_499), lease.leftMs(6_499)]).toEqual(["a", 1]);
  expect([lease.parentId(6_500), lease.leftMs(6_500)]).toEqual([null, 0]);
});

test("[AX-6.3-2] without heartbeats it lasts as long as the connection", () => {
  const lease = new Lease();
  lease.begin(answer(0), 5_000);
  expect(lease.parentId(1e9)).toBe("a");
  lease.loseConnection();
  expect(lease.parentId(5_001)).toBeNull();
});

test("who is let go has no parent", () => {
  const lease = new Lease();
  lease.begin(answer(1_000), 5_000);
  lease.end();
  expect(lease.parentId(5_001)).toBeNull();
});
