// The codes several documents use, as the official SDK's clients get them: the reason tells them apart.
import { harmless } from "@mcpx/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { ask, type Place } from "../support/ask.ts";
import { connectSdk, kinds } from "../support/sdk-callers.ts";
import {
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";

let server: TestServer;
let place: Place;
const registrants: RawRegistrant[] = [];

beforeAll(async () => {
  server = await startTestServer({
    config: { degraded: { grace: 60_000 }, budgets: { spent: { max_cost_units_per_session: 1 } } },
  });
  place = {
    url: `${server.url}/mcp`,
    token: await server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
  for (const segment of ["lost", "spent"]) {
    const token = await server.token({ sub: segment, topics: [], segment, scope: "write" } as never);
    const registrant = await rawRegistrant(server.url, token, {
      parentId: null,
      tools: [toolOf("t", { ...harmless, cost_class: "expensive" })],
    });
    registrants.push(registrant);
    await registrant.register(registrationOf(segment));
  }
});

afterAll(async () => {
  for (const one of registrants) one.cut();
  await server.stop();
});

async function namesNow(): Promise<string[]> {
  const { message } = await ask(place, "tools/list");
  const names: string[] = message.result.tools.map(({ name }: Message) => name);
  return names.filter((name) => !name.startsWith("mcpax."));
}

const cases = [
  ["lost.t", -32002, "tool_degraded", "subserver_unreachable"],
  ["spent.t", -32003, "budget_exceeded", "budget_exceeded"],
] as const;

test("both are there, and one of them goes", async () => {
  await expect.poll(async () => (await namesNow()).sort()).toEqual(["lost.t", "spent.t"]);
  registrants[0]?.cut();
});

test.each(kinds.flatMap((kind) => cases.map((one) => [kind, ...one] as const)))(
  "[AX-11.4-2] an SDK client %s that calls %s gets %i %s, told apart by its reason",
  async (kind, name, code, message, reason) => {
    const caller = await connectSdk(kind, place);
    try {
      const error = (await caller.call(name).catch((thrown: unknown) => thrown)) as Message;
      expect(error).toMatchObject({ code, data: { reason } });
      expect(error.message).toContain(message);
      expect(error.data.detail).toEqual(expect.any(String));
    } finally {
      await caller.close();
    }
  },
);
