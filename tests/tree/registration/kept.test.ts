// How long a segment is kept for its owner, on a clock that the test moves. [AX-4.2-2]
import { createManualClock } from "@mcpx/host";
import { afterEach, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { ask } from "../support/ask.ts";
import {
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";

const graceMs = 60_000;
const dayMs = 24 * 3_600_000;
const registrants: RawRegistrant[] = [];
let server: TestServer;

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await server.stop();
});

/** What becomes of a registration as `ours`; whether it is proven depends on its token. */
async function outcome(claims: object): Promise<[string, RawRegistrant]> {
  const token = await server.token({ sub: "owner", topics: [], ...claims });
  const registrant = await rawRegistrant(server.url, token, { parentId: null, tools: [toolOf("t")] });
  registrants.push(registrant);
  const { result, error } = await registrant.register(registrationOf("ours"));
  return [result?.status ?? error.data.reason, registrant];
}

async function isListed(): Promise<boolean> {
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  const { message } = await ask({ url: `${server.url}/mcp`, token }, "tools/list");
  return message.result.tools.some(({ name }: Message) => name === "ours.t");
}

test.each([
  ["what was proven is kept for 30 days", { segment: "ours" }, 30 * dayMs],
  ["control: what was not proven is kept for the grace alone", {}, graceMs],
])("[AX-4.2-2] after the loss of its owner, %s", async (_title, owner, keptMs) => {
  const clock = createManualClock(Date.now());
  const config = { degraded: { grace: graceMs }, subservers: { ours: { development: true } } };
  server = await startTestServer({ clock, config });
  const squat = async () => (await outcome({ sub: "squatter" }))[0];
  const [status, registrant] = await outcome(owner);
  expect(status).toBe("registered");
  await expect.poll(isListed).toBe(true);
  registrant.cut();
  await expect.poll(() => server.logged.join("")).toContain("subserver lost");
  clock.advance(graceMs - 1_000);
  expect(await isListed()).toBe(true);
  expect(await squat()).toBe("namespace_conflict");
  clock.advance(2_000);
  await expect.poll(isListed).toBe(false);
  if (keptMs > graceMs) {
    expect(await squat()).toBe("namespace_conflict");
    clock.advance(keptMs - 2 * graceMs);
    expect(await squat()).toBe("namespace_conflict");
    clock.advance(2 * graceMs);
  }
  // The list is short before the segment is free.
  await expect.poll(squat).toBe("registered");
});
