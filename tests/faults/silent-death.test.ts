// A participant whose line goes dead without a word is gone after the ping timeout, and the others are told.
import { expect, test } from "vitest";
import { TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";
import { startFaultProxy } from "./support/fault-proxy.ts";

const limits = { pingIntervalMs: 1_000, pingTimeoutMs: 3_000 };

test("[X0-4.2-1] presence tells of a silent death, and not of a quiet life", async () => {
  const server = await startTestServer({ limits });
  const proxy = await startFaultProxy(Number(new URL(server.url).port));
  const token = (sub: string) => server.token({ sub, topics: ["ward"], level: "full" });
  const nurse = await TestClient.connect(server.url, await token("nurse"), { topic: "ward" });
  // Control: says nothing either, but its line is alive and answers pings.
  const quiet = await TestClient.connect(server.url, await token("quiet"), { topic: "ward" });
  const doomed = await TestClient.connect(`http://127.0.0.1:${proxy.port}`, await token("doomed"), {
    topic: "ward",
  });
  await nurse.find(({ payload }) => payload.event === "join" && payload.participant.id === "doomed");

  const silentSince = performance.now();
  proxy.fallSilent();
  const leave = await nurse.event("leave");
  const afterMs = performance.now() - silentSince;
  expect(leave.payload.participant.id).toBe("doomed");
  // Not at once (the timeout is kept), and the one that lives is still there.
  expect(afterMs).toBeGreaterThan(limits.pingTimeoutMs - limits.pingIntervalMs - 500);
  const { body } = await server.call("GET", "/v0/topics/ward/participants", await token("nurse"));
  expect((body as { participants: { id: string }[] }).participants.map(({ id }) => id).sort()).toEqual([
    "nurse",
    "quiet",
  ]);
  expect(quiet.closed).toBeUndefined();

  doomed.ws.terminate();
  await proxy.close();
  await server.stop();
});
