// Presence heartbeats, where they are configured. Not a transcript: how many come, and between what, is up to time.
import { expect, test } from "vitest";
import { TestClient } from "../support/test-client.ts";
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
