// What an admin sees of capabilities in topics that check calls, and takes back in their issuers' place.
import { join } from "node:path";
import { requestCapability } from "@mcpx/client/guard";
import { openState } from "@mcpx/host";
import { readCapabilityToken } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { Seen } from "../support/test-client.ts";
import { annMayHeat, startKitchen, topic, wideLimits } from "./support/guarded-kitchen.ts";
import { enterRaw } from "./support/raw-caller.ts";

const house = { limits: wideLimits, gateway: { topics: { [topic]: { toolAccess: "enforce" as const } } } };

async function scene() {
  const kitchen = await startKitchen({ policy: annMayHeat, house });
  const { server, guard, oven } = kitchen;
  const ann = await enterRaw(server, "ann");
  const ask = async (): Promise<string> =>
    (await ann.request("capabilities/request", { tools: ["heat"] })).result.token;
  const issue = async (more: object = {}) =>
    (await guard.issue({ holder: "ann", key: ann.key.jwk, tools: ["heat"], duration: 600, ...more })).token;
  const admin = async (method: string, path: string) =>
    server.call(method, `/admin/${path}`, await server.adminToken());
  const listed = async (query = ""): Promise<Seen[]> =>
    (await admin("GET", `capabilities${query}`)).body.capabilities;
  const pathOf = (token: string) =>
    `capabilities/${topic}/oven/${encodeURIComponent(readCapabilityToken(token).claims.jti)}`;
  const heard: Seen[] = [];
  oven.room.addEventListener("envelope", ({ detail }) => void heard.push(detail));
  const calls = () => heard.filter(({ payload }) => payload.method === "tools/call").length;
  return { ...kitchen, ann, ask, issue, admin, listed, pathOf, calls };
}

const idOf = (token: string) => readCapabilityToken(token).claims.jti;

test("[AC-12-1] what was given is listed for admins, without a token, key or proof", async () => {
  const { ask, listed } = await scene();
  expect(await listed()).toEqual([]);
  const token = await ask();
  const { jti, exp } = readCapabilityToken(token).claims;
  const all = await listed();
  expect(all).toEqual([
    {
      topic,
      issuer: "oven",
      id: jti,
      holder: "ann",
      tools: ["heat"],
      seenAt: expect.any(String),
      expiresAt: new Date(exp * 1_000).toISOString(),
    },
  ]);
  expect(JSON.stringify(all)).not.toContain("eyJ");
  expect(await listed(`?topic=${topic}`)).toEqual(all);
  expect(await listed("?topic=cellar")).toEqual([]);
});

test("[AC-12-1] what came another way is listed when it is used: given unasked, or encrypted", async () => {
  const { ann, issue, listed, enter, server } = await scene();
  const unasked = await issue({ maxUses: 3 });
  await ann.client.leave();
  const { room } = await enter("ann", { key: ann.key });
  const { token: hidden } = await requestCapability(room, "oven", { tools: ["heat"], isEncrypted: true });
  expect(await listed()).toEqual([]);
  await room.peer("oven").callTool("heat", { degrees: 1 });
  expect((await listed()).map(({ id }) => id)).toEqual([idOf(hidden)]);
  await room.close();
  const again = await enterRaw(server, "ann", { key: ann.key });
  expect(await again.call({ capability: unasked })).toBe("done");
  expect((await listed()).map(({ id, maxUses }) => [id, maxUses])).toEqual([
    [idOf(hidden), undefined],
    [idOf(unasked), 3],
  ]);
});

test("[AC-9-3] [AC-6-2] [AC-9-7] an admin takes one back: told to the room and the owner, and the next call is blocked", async () => {
  const { ann, ask, admin, listed, pathOf, calls, guard, events } = await scene();
  const [one, other] = [await ask(), await ask()];
  expect(await ann.call({ capability: one })).toBe("done");
  const notice = ann.client.find(({ payload }) => payload.event === "capability_revoked");
  const answer = await admin("DELETE", pathOf(one));
  expect(answer).toMatchObject({
    status: 200,
    body: { topic, issuer: "oven", id: idOf(one), revokedBy: "admin", known: true },
  });
  expect(await notice).toMatchObject({
    kind: "system",
    from: "system:gateway",
    payload: { type: "capability_revoked", ids: [idOf(one)], issuer: "oven", by: "admin" },
  });
  const sent = ann.nextId();
  const correlation = ann.send("tools/call", await ann.params({ capability: one }, sent), sent);
  expect((await ann.client.answer(correlation)).payload.error.data.reason).toBe("revoked");
  expect(await ann.client.next()).toMatchObject({
    payload: { type: "tool_call_blocked", reason: "revoked" },
  });
  expect(calls()).toBe(1);
  expect((await listed()).map(({ id }) => id)).toEqual([idOf(other)]);
  // The owner's own guard knows it too, and of nothing else.
  const revoked = async () => (await guard.grants()).filter(({ isRevoked }) => isRevoked);
  await expect.poll(async () => (await revoked()).map(({ jti }) => jti)).toEqual([idOf(one)]);
  await expect.poll(() => events.filter(({ type }) => type === "revoked").length).toBe(1);
  expect(await ann.call({ capability: other })).toBe("done");
  const { body } = await admin("GET", "audit?limit=50");
  const trail = body.records.filter(({ action }: Seen) => action === "capability.revoke");
  expect(trail).toMatchObject([
    { actor: "admin", subject: "oven", topic, detail: { count: 1, first: idOf(one) } },
  ]);
});

test("[AC-6-4] what an admin has taken back stays so after a restart, also what was never seen", async () => {
  const { ann, issue, admin, pathOf, server, oven } = await scene();
  const [one, other] = [await issue(), await issue()];
  expect((await admin("DELETE", pathOf(one))).body).toMatchObject({ known: false });
  const live = new Promise<void>((resolve) => {
    oven.room.addEventListener("state", ({ detail }) => {
      if (detail.state === "live") resolve();
    });
  });
  await server.restart();
  await live;
  const again = await enterRaw(server, "ann", { key: ann.key });
  const shown = () => oven.room.peers.find(({ id }) => id === "ann")?.key;
  await expect.poll(shown).toBeDefined();
  expect(await again.call({ capability: one })).toBe("revoked");
  expect(await again.call({ capability: other })).toBe("done");
});

test("[AC-9-3] [AC-6-4] an owner that filled its list with junk stops no admin from taking one back", async () => {
  const { ann, ask, admin, pathOf, server, guard } = await scene();
  const [one, other] = [await ask(), await ask()];
  const state = openState(join(server.dataDir, "state.db"));
  state
    .prepare(`
      INSERT INTO revoked_capabilities (topic, issuer, jti, until)
      WITH RECURSIVE junk(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM junk WHERE n < 100000)
      SELECT ?, 'oven', 'junk-' || n, ? FROM junk`)
    .run(topic, Date.now() + 3_600_000);
  state.close();
  // Control: for the owner itself it is full.
  await expect(guard.revoke([idOf(other)])).rejects.toThrow(/list of revoked capabilities is full/);
  expect(await admin("DELETE", pathOf(one))).toMatchObject({ status: 200, body: { known: true } });
  expect(await ann.call({ capability: one })).toBe("revoked");
});

test("[X1-10.3-2] nobody but an admin looks or takes back, and where calls are not checked nothing is promised", async () => {
  const { ann, ask, admin, pathOf, server, calls } = await scene();
  const token = await ask();
  const owner = await server.token({ sub: "oven", topics: ["**"], level: "full" });
  for (const [bearer, status, reason] of [
    [owner, 403, "admin_only"],
    [undefined, 401, "unauthorised"],
  ] as const) {
    for (const [method, path] of [
      ["GET", "capabilities"],
      ["DELETE", pathOf(token)],
    ] as const) {
      expect(await server.call(method, `/admin/${path}`, bearer)).toMatchObject({
        status,
        body: { error: { reason } },
      });
    }
  }
  expect((await admin("DELETE", "capabilities/cellar/oven/c1")).body.error.reason).toBe("bad_request");
  expect((await admin("DELETE", `capabilities/${topic}/oven/c%201`)).body.error.reason).toBe("bad_request");
  expect((await admin("GET", "capabilities?topic=a%20b")).body.error.reason).toBe("bad_request");
  expect(await ann.call({ capability: token })).toBe("done");
  expect(calls()).toBe(1);
});

test("[AC-12-1] nobody puts anything into the list in another's name", async () => {
  const { ann, issue, ask, listed, server } = await scene();
  const mallory = await enterRaw(server, "mallory");
  const token = await issue();
  const sent = ann.send("capabilities/request", { tools: ["heat"] }, ann.nextId(), "mallory");
  const { id, payload } = await mallory.client.find((message) => message.id === sent);
  const answer = { jsonrpc: "2.0", id: payload.id, result: { token } };
  await mallory.client.ack(
    mallory.client.send({ kind: "mcp", to: ["ann"], correlation_id: id, payload: answer }),
  );
  expect(await listed()).toEqual([]);
  const own = await ask();
  expect((await listed()).map((one) => one.id)).toEqual([idOf(own)]);
});
