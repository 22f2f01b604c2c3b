// The codes several documents use, as the official SDK's clients get them: the reason tells them apart.
import { harmless } from "@mcpx/protocol";
import { Client as ClientTwo } from "@modelcontextprotocol/client";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startKitchen } from "../../access/support/guarded-kitchen.ts";
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
  // Both are there, and one of them goes.
  await vi.waitFor(async () => expect((await namesNow()).sort()).toEqual(["lost.t", "spent.t"]), 15_000);
  registrants[0]?.cut();
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

const info = { name: "guest", version: "1" };
const roomClients = { v1: () => new ClientOne(info), v2: () => new ClientTwo(info) };
const fixed = [
  ["privilege_violation", -32001, "Privilege violation"],
  ["missing", -32003, "Invalid or missing capability token"],
] as const;

test.each(["v1", "v2"] as const)(
  "[AX-11.4-2] an SDK client %s in a room gets the sources' messages, and tells -32003 apart by its reason",
  async (version) => {
    const kitchen = await startKitchen({ policy: { mode: "allowlist" } });
    const told: [string, number, string][] = [];
    const note = ({ code, message, data }: Message) => void told.push([data.reason, code, message]);
    const rookie = await kitchen.enter("rookie", { level: "restricted" });
    const ann = await kitchen.enter("ann");
    // biome-ignore lint/suspicious/noExplicitAny: each SDK has types of its own
    const connect = (person: typeof ann, client: any) => client.connect(person.room.transport("oven"));
    await connect(rookie, roomClients[version]()).catch(note);
    const client = roomClients[version]();
    await connect(ann, client);
    await client.callTool({ name: "heat", arguments: { degrees: 180 } }).catch(note);
    await client.close();
    expect(kitchen.done).toEqual([]);
    expect(told.map(([reason, code]) => [reason, code])).toEqual(
      fixed.map(([reason, code]) => [reason, code]),
    );
    for (const [index, [, , message]] of fixed.entries()) expect(told[index]?.[2]).toContain(message);
  },
);
