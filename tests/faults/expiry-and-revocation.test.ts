// A token's end and its revocation act on live connections at once, also while envelopes are flying.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const limits = { envelopesPerSecondFull: 100_000 };

let server: TestServer;
afterEach(() => server.stop());

/** Publishes at about 1 000 envelopes a second until the connection is closed. */
async function talk(client: TestClient): Promise<void> {
  while (client.closed === undefined) {
    for (let i = 0; i < 10; i += 1) client.say("tick");
    await sleep(10);
  }
}

async function join(id: string, ttlMs?: number): Promise<{ client: TestClient; token: string }> {
  const token = await server.token({ sub: id, topics: ["plaza"], level: "full" }, ttlMs);
  return { client: await TestClient.connect(server.url, token, { topic: "plaza" }), token };
}

function jtiOf(token: string): string {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).jti;
}

test("[X0-5.1-2] revoked under load, a connection is closed at once, and stays out after a restart", {
  timeout: 60_000,
}, async () => {
  server = await startTestServer({ limits });
  const { client: spy, token } = await join("spy");
  const { client: witness } = await join("witness");
  const { client: innocent } = await join("innocent");
  const talking = Promise.all([talk(spy), talk(innocent)]);
  await witness.find(({ from }) => from === "spy");

  const revoked = await server.call("DELETE", `/admin/tokens/${jtiOf(token)}`, await server.adminToken());
  const revokedAt = Date.now();
  expect(revoked.status).toBe(200);
  expect(await spy.closing()).toMatchObject({ code: 4401, reason: "token_revoked" });
  // A second is promised; the rest is for a busy machine.
  expect(Date.now() - revokedAt).toBeLessThan(5_000);

  // Nothing it sent after the revocation was accepted; the innocent one is still heard.
  await witness.find(({ from, ts }) => from === "innocent" && Date.parse(ts) > revokedAt + 500);
  const { body } = await server.call("GET", "/v0/topics/plaza/history?limit=1000", await server.adminToken());
  const history = (body as { envelopes: { from: string; at: string }[] }).envelopes;
  const lastOf = (id: string) =>
    Math.max(...history.filter(({ from }) => from === id).map(({ at }) => Date.parse(at)));
  expect(lastOf("spy")).toBeLessThanOrEqual(revokedAt);
  expect(lastOf("innocent")).toBeGreaterThan(revokedAt);

  innocent.ws.terminate();
  await talking;
  await server.restart();
  await expect(TestClient.connect(server.url, token, { topic: "plaza" })).rejects.toThrow(
    "401 token_revoked",
  );
});

test("[X0-5.1-2] past its token's end a talking connection is warned, closed with 4401, and nothing later is accepted", {
  timeout: 60_000,
}, async () => {
  server = await startTestServer({ limits: { ...limits, tokenWarningMs: 1_500 } });
  const { client: guest, token } = await join("guest", 3_000);
  const { client: resident } = await join("resident");
  const expiresAt = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).exp * 1_000;
  const talking = Promise.all([talk(guest), talk(resident)]);
  await guest.event("token_expiring");
  expect(await guest.closing()).toMatchObject({ code: 4401, reason: "token_expired" });
  expect(Date.now()).toBeLessThan(expiresAt + 5_000);
  // Control: the other one, with a longer token, goes on.
  expect(resident.closed).toBeUndefined();
  resident.ws.terminate();
  await talking;
  const { body } = await server.call("GET", "/v0/topics/plaza/history?limit=1000", await server.adminToken());
  const ats = (body as { envelopes: { from: string; at: string }[] }).envelopes
    .filter(({ from }) => from === "guest")
    .map(({ at }) => Date.parse(at));
  expect(Math.max(...ats)).toBeLessThanOrEqual(expiresAt);
});
