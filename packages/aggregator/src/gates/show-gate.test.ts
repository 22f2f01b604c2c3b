// Clients that open addresses: their user is sent to the gate once, in the client's own names, and hears when it is over.
import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { Questions } from "../mcp/exchange.ts";
import { termsOf } from "./store/gate-store.ts";
import { signedScene, type Terms } from "./testing/signed-calls.ts";

const completed = "notifications/elicitation/complete";

/** Somebody who is at a client of this era, and what the client shows. */
function user(era: "legacy" | "modern", answer: () => JsonObject | Promise<JsonObject>) {
  const shown: JsonObject[] = [];
  const notified: [string, JsonObject][] = [];
  return {
    shown,
    heard: () => notified.filter(([method]) => method === completed).map(([, params]) => params),
    more: {
      caller: { era, dialect: "safe" as const, capabilities: { elicitation: { url: {} } } },
      notified,
      answer: async ({ approval }: Questions) => {
        shown.push(approval?.params ?? {});
        return { approval: await answer() };
      },
    },
  };
}

test("[B-CLIENT-1] [B-CLIENT-2] a client that opens addresses is shown the gate, once, in its own names", async () => {
  const scene = signedScene();
  const { shown, more } = user("modern", () => ({ action: "accept" }));
  const { confirmation_id: id } = await scene.stop({ n: 1 }, more);
  const wait = { name: "mcpax__wait", arguments: { confirmation_id: id } };
  for (const call of [wait, { name: "s__wipe", arguments: { n: 1 } }]) {
    expect(await scene.ask("tools/call", call, more)).toMatchObject({
      structuredContent: { status: "confirmation_required", confirmation_id: id },
    });
  }
  const message = "s__wipe waits for a human's approval";
  const url = `http://127.0.0.1/approve/${id}`;
  expect(shown).toEqual([{ mode: "url", elicitationId: id, url, message }]);
  // Another client of the same user, and another call, are shown it.
  await scene.ask("tools/call", wait, { ...more, caller: { ...more.caller, key: "another" } });
  await scene.stop({ n: 2 }, more);
  expect(shown).toHaveLength(3);
});

test("[B-CLIENT-1] who opens no addresses, or where nobody can decide there, is shown none", async () => {
  const scene = signedScene();
  const { shown, more } = user("modern", () => ({ action: "accept" }));
  await scene.stop({ n: 1 }, { ...more, caller: { capabilities: { elicitation: { form: {} } } } });
  Object.assign(scene.gates, { obstacle: "nobody can approve yet" });
  await scene.stop({ n: 2 }, more);
  expect(shown).toEqual([]);
});

test.each([
  ["legacy", 1],
  ["modern", 0],
] as const)(
  "[B-CLIENT-1] decided while a %s client still shows the address: told %d times that it is over",
  async (era, times) => {
    const scene = signedScene();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<JsonObject>();
    const { heard, more } = user(era, () => {
      asked.resolve();
      return answered.promise;
    });
    const call = scene.ask("tools/call", { name: "s__wipe", arguments: { n: 1 } }, more);
    await asked.promise;
    const [waiting] = await scene.gates.store.list();
    const gate = await scene.gates.store.find(waiting?.id ?? "");
    if (gate === undefined) throw new Error("nothing waits");
    await scene.approve(termsOf(gate, scene.gates.aggregatorId) as Terms);
    answered.resolve({ action: "accept" });
    await call;
    expect(scene.arrived()).toHaveLength(1);
    expect(heard()).toHaveLength(times);
  },
);
