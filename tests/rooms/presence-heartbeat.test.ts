// Presence heartbeats, where they are configured. Not a transcript: how many come, and between what, is up to time.
import { expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import { enterVirtually } from "../support/enter-virtually.ts";
import { type Seen, TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

test("[X0-4.2-2] with an interval configured, everybody hears of everybody who is still there", async () => {
  const server = await startTestServer({ gateway: { presenceHeartbeatMs: 1_000 } });
  const join = async (sub: string, kind: "human" | "robot", protocol: string) => {
    const token = await server.token({ sub, topics: ["lookout"], level: "full", kind });
    return TestClient.connect(server.url, token, { topic: "lookout", protocol });
  };
  const mira = await join("mira", "human", "mcpx/v0.1");
  const drone = await join("drone", "robot", "mcp-x/v0");
  for (const [listener, protocol] of [
    [mira, "mcpx/v0.1"],
    [drone, "mcp-x/v0"],
  ] as const) {
    for (const [id, kind] of [
      ["mira", "human"],
      ["drone", "robot"],
    ]) {
      const isIt = ({ payload }: { payload: { event?: string; participant?: { id: string } } }) =>
        payload.event === "heartbeat" && payload.participant?.id === id;
      const heartbeat = await listener.find(isIt);
      expect(heartbeat).toMatchObject({
        protocol,
        kind: "presence",
        from: "system:gateway",
        payload: { participant: { kind } },
      });
    }
  }
  await server.stop();
});

const heartbeatOf =
  (id: string) =>
  ({ payload }: Seen): boolean =>
    payload.event === "heartbeat" && payload.participant.id === id;

test("[X0-4.2-2] who was just shown out is not said to be there", async () => {
  const server = await startTestServer({ gateway: { presenceHeartbeatMs: 1_000 } });
  const mira = await enter(server, "mira");
  await enter(server, "brief", { ttlMs: 2_500 });
  // Behind it, so that its heartbeat comes after all that the same second brings.
  await enter(server, "drone");
  await mira.find(heartbeatOf("brief"));
  await mira.find(({ payload }) => payload.event === "leave" && payload.reason === "token_expired");
  await mira.find(heartbeatOf("drone"));
  await mira.find(heartbeatOf("mira"));
  const said = mira.texts.map((text) => JSON.parse(text));
  const after = said.slice(said.findIndex(({ payload }) => payload.event === "leave"));
  expect(after.some(heartbeatOf("brief"))).toBe(false);
  await server.stop();
});

test("[X0-4.2-2] [B-ROOM-1] a participant's heartbeat is one, with its status, whatever stands beside its socket", async () => {
  const server = await startTestServer({ gateway: { presenceHeartbeatMs: 1_000 } });
  const mira = await enter(server, "mira");
  const own = await enter(server, "drone");
  await own.ack(own.send({ kind: "system", payload: { type: "presence_status", status: "busy" } }));
  await enterVirtually(server, "drone");
  await mira.taken();
  await mira.find(heartbeatOf("mira"));
  for (let round = 0; round < 2; round += 1) {
    const statuses: (string | undefined)[] = [];
    const heard = await mira.find((message) => {
      if (heartbeatOf("drone")(message)) statuses.push(message.payload.participant.status?.status);
      return heartbeatOf("mira")(message);
    });
    expect(heard.payload.participant).not.toHaveProperty("status");
    expect(statuses).toEqual(["busy"]);
  }
  await server.stop();
});
