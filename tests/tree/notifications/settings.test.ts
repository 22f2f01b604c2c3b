// Rate and buffer of notifications and the cost of calls, as the configuration sets them.
import { harmless } from "@mcpx/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import {
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "../registration/support/raw-registrant.ts";
import { ask, callTool, type Message, type Place } from "../support/ask.ts";
import { hearing } from "./support/hearing-client.ts";

let server: TestServer;
let place: Place;
const registrants: RawRegistrant[] = [];
const toolFor = (cost_class: string) => toolOf(cost_class, { ...harmless, cost_class });

beforeAll(async () => {
  server = await startTestServer({
    config: {
      notifications: { ratePerSecond: 5, buffer: 4 },
      subservers: { brisk: { notifications: { ratePerSecond: 40 } } },
      costUnits: { free: 2, expensive: 3.5 },
      budgets: { priced: { max_cost_units_per_session: 8 } },
    },
  });
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  place = { url: `${server.url}/mcp`, token };
});

afterAll(async () => {
  for (const one of registrants) one.cut();
  await server.stop();
});

async function leaf(segment: string): Promise<RawRegistrant> {
  const token = await server.token({ sub: segment, topics: [], segment, scope: "write" } as never);
  const tools = ["free", "metered", "expensive"].map(toolFor);
  const registrant = await rawRegistrant(server.url, token, { parentId: null, tools });
  registrants.push(registrant);
  await registrant.register(registrationOf(segment));
  const names = async () =>
    (await ask(place, "tools/list")).message.result.tools.map(({ name }: Message) => name);
  await expect.poll(names).toContain(`${segment}.free`);
  return registrant;
}

test("[AX-12-2] [AX-12-6] five a second and four that wait, for a server that has nothing of its own set; forty for one that has", async () => {
  const [plain, brisk] = [await leaf("plain"), await leaf("brisk")];
  const client = await hearing("v1", place);
  for (const one of [plain, brisk]) {
    for (let n = 0; n < 40; n += 1) one.notify("notifications/tick", { n });
  }
  const ticks = (segment: string) => client.of(`${segment}.notifications/tick`).map(({ n }) => n);
  await expect.poll(() => ticks("brisk")).toEqual([...Array(40).keys()]);
  // The first at once; of the others the newest that may wait.
  await expect.poll(() => ticks("plain"), { timeout: 5_000 }).toEqual([0, 1, 2, 3, 4, 36, 37, 38, 39]);
  const { message } = await callTool(place, "mcpax.notifications_dropped");
  expect(message.result.structuredContent.subservers).toEqual({ plain: 31 });
});

test("[AX-11.4-4] calls cost what the configuration says, and what it does not say is as ever", async () => {
  await leaf("priced");
  const call = async (name: string) => {
    const { message } = await callTool(place, `priced.${name}`);
    return message.error?.data ?? "done";
  };
  // 2 + 1 + 3.5
  expect([await call("free"), await call("metered"), await call("expensive")]).toEqual([
    "done",
    "done",
    "done",
  ]);
  expect(await call("free")).toMatchObject({ reason: "budget_exceeded", limit: 8, used: 6.5 });
  expect(await call("metered")).toBe("done");
});
