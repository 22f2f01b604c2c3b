// One principal does not take all the places of the tree, whatever segments and tokens it has.
import { afterEach, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { type RawRegistrant, rawRegistrant, registrationOf } from "./support/raw-registrant.ts";

const registrants: RawRegistrant[] = [];
let server: TestServer;

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await server.stop();
});

async function come(sub: string, segment: string): Promise<{ registrant: RawRegistrant; outcome: string }> {
  const token = await server.token({ sub, topics: [], segment });
  const registrant = await rawRegistrant(server.url, token, { parentId: null });
  registrants.push(registrant);
  const { result, error } = await registrant.register(registrationOf(segment));
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
