// Everybody in a room sees everything. A thief takes all of it and sends it again, in every way it can think of.
import type { RoomEnvelope } from "@mcpx/client";
import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { textOf } from "../client/support/house.ts";
import { annMayHeat, startKitchen } from "./support/guarded-kitchen.ts";
import { enterRaw, outcomeOf } from "./support/raw-caller.ts";

test("[AC-8-1] [AC-8-2] [AC-5-4] another member replays everything it saw, and gets nothing", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const thief = await enterRaw(kitchen.server, "mallory");
  const ann = await kitchen.enter("ann");
  for (const degrees of [100, 150, 200]) {
    expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees }))).toBe(`${degrees} degrees`);
  }
  expect(kitchen.done).toHaveLength(3);
  const seen: RoomEnvelope[] = await thief.client.taken();
  const stolen = seen.filter(({ kind, payload }) => kind === "mcp" && payload.method === "tools/call");
  const calls = stolen
    .map(({ payload }) => payload.params as JsonObject)
    .filter(({ capability }) => capability);
  expect(calls.length).toBe(3);
  const [granted] = seen.filter(
    ({ payload }) => (payload.result as JsonObject | undefined)?.token !== undefined,
  );
  const capability = (granted as RoomEnvelope & { payload: { result: JsonObject } }).payload.result.token;

  const outcomes: string[] = [];
  for (const { payload, id } of stolen) {
    // As it was; under the same id; as somebody else; as an answer to the same envelope.
    outcomes.push(
      outcomeOf(await thief.request("tools/call", payload.params as JsonObject, payload.id as number)),
    );
    outcomes.push(outcomeOf(await thief.request("tools/call", payload.params as JsonObject)));
    const forged = thief.client.send({ from: "ann", kind: "mcp", to: ["oven"], payload });
    outcomes.push(await thief.client.outcome(forged));
    const same = thief.client.send({ id, kind: "mcp", to: ["oven"], payload });
    outcomes.push(await thief.client.outcome(same));
  }
  // Her capability with the thief's own proof, or with one of hers.
  outcomes.push(await thief.call({ capability }));
  for (const { proof } of calls) outcomes.push(await thief.call({ capability, proof }));
  // Her capability and proof in `_meta`, as if there had been a proposal.
  for (const { capability: token, proof, ...rest } of calls) {
    const params = {
      ...rest,
      _meta: { capability: token, proof, "org.mcpx/proposal": { proposal: "p", proposer: "ann" } },
    };
    outcomes.push(outcomeOf(await thief.request("tools/call", params)));
  }
  // A refresh of what is hers.
  const [grant] = await kitchen.guard.grants();
  outcomes.push(
    outcomeOf(await thief.request("capabilities/request", { tools: ["heat"], refresh: grant?.jti })),
  );
  expect(new Set(outcomes)).toEqual(
    new Set(["wrong_holder", "missing", "wrong_from", "id_conflict", "grant_refused"]),
  );
  expect(kitchen.done).toHaveLength(3);
  // The control: for her it is still good.
  await ann.room.peer("oven").callTool("heat", { degrees: 250 });
  expect(kitchen.done).toHaveLength(4);
});

test("[AC-8-1] whoever has also stolen her name has not her key", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const ann = await enterRaw(kitchen.server, "ann");
  const asked = await ann.request("capabilities/request", { tools: ["heat"] });
  const capability = asked.result.token;
  const params = await ann.params({ capability }, 1);
  expect(outcomeOf(await ann.request("tools/call", params, 1))).toBe("done");
  // A token for her id, and the bytes of her calls, but another key: the gateway lets nobody show that.
  await ann.client.leave();
  const thief = await enterRaw(kitchen.server, "ann", { key: ann.key });
  expect(outcomeOf(await thief.request("tools/call", params, 1))).toBe("replayed");
  expect(await thief.call({ capability, signer: (await enterRaw(kitchen.server, "eve")).key })).toBe(
    "proof_invalid",
  );
  expect(kitchen.done).toHaveLength(1);
});

test("the control: without a guard the same thief gets whatever it sends again", async () => {
  const kitchen = await startKitchen({ policy: { mode: "open" } });
  const thief = await enterRaw(kitchen.server, "mallory");
  const ann = await kitchen.enter("ann");
  await ann.room.peer("oven").callTool("heat", { degrees: 100 });
  const seen: RoomEnvelope[] = await thief.client.taken();
  const stolen = seen.find(({ kind, payload }) => kind === "mcp" && payload.method === "tools/call");
  expect(outcomeOf(await thief.request("tools/call", stolen?.payload.params as JsonObject))).toBe("done");
  expect(kitchen.done).toEqual(["heat 100", "heat 100"]);
});
