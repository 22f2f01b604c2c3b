// One principal does not take all the places of the tree, whatever segments and tokens it has and ids it brings.
import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { type RawRegistrant, rawRegistrant, registrationOf } from "./support/raw-registrant.ts";

const registrants: RawRegistrant[] = [];
let server: TestServer;

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await server.stop();
});

async function come(
  sub: string,
  segment: string,
  more: object = {},
): Promise<{ registrant: RawRegistrant; outcome: string }> {
  const token = await server.token({ sub, topics: [], segment });
  const registrant = await rawRegistrant(server.url, token, { parentId: null });
  registrants.push(registrant);
  const { result, error } = await registrant.register(registrationOf(segment, more));
  return { registrant, outcome: result?.status ?? error.data.reason };
}

test("[AX-10.4-1] registrations of one principal are bounded; others come, and who leaves makes room", async () => {
  server = await startTestServer({
    limits: { subserversPerPrincipalMax: 3 },
    config: { degraded: { grace: 0 } },
  });
  const first = await come("greedy", "a");
  for (const segment of ["b", "c"]) expect((await come("greedy", segment)).outcome).toBe("registered");
  expect((await come("greedy", "d")).outcome).toBe("too_many_subservers");
  expect((await come("neighbour", "e")).outcome).toBe("registered");
  first.registrant.cut();
  await expect.poll(async () => (await come("greedy", "d")).outcome).toBe("registered");
  expect((await come("neighbour", "f")).outcome).toBe("registered");
});

const uuids = (count: number) => Array.from({ length: count }, () => randomUUID());

test("[AX-13.4-1] however many subservers one says are below it, it keeps nobody out; those of its share are known", async () => {
  server = await startTestServer();
  const below = uuids(19_999);
  const trees = () => ({ "x-mcpax-subtree-ids": uuids(1) });
  const greedy = await come("greedy", "a", { ...trees(), "x-mcpax-subserver-ids": below });
  expect(greedy.outcome).toBe("registered");
  expect((await come("neighbour", "b")).outcome).toBe("registered");
  const carried = { ...trees(), "x-mcpax-subserver-ids": uuids(3) };
  expect((await come("neighbour", "c", carried)).outcome).toBe("registered");
  // Control: an id has one place, as far as it is known.
  expect((await come("neighbour", "d", { subserver_id: below[0] })).outcome).toBe("duplicate_subserver");
  expect((await come("neighbour", "e", { subserver_id: below.at(-1) })).outcome).toBe("registered");
});

test("[AX-5.3-2] of the aggregators that can stand below, one brings no more than it leaves for others", async () => {
  server = await startTestServer();
  const trees = (count: number) => ({ "x-mcpax-subtree-ids": uuids(count) });
  expect((await come("greedy", "a", trees(2_048))).outcome).toBe("too_many_subservers");
  expect((await come("greedy", "a", trees(2_047))).outcome).toBe("registered");
  expect((await come("neighbour", "b", trees(1_024))).outcome).toBe("registered");
  expect((await come("neighbour", "c")).outcome).toBe("registered");
});
