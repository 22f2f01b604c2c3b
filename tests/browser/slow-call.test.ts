// A call that takes longer than a browser waits: the decision is answered, and what came of the call is told later.
import { expect, test } from "vitest";
import { startApproveServer } from "./support/approve-server.ts";

test("[AX-11.3-5] an approval is answered while its call is still under way, and the page hears its end", {
  timeout: 60_000,
}, async () => {
  const ended = Promise.withResolvers<{ content: never[] }>();
  const server = await startApproveServer({
    handle: ({ method }) => (method === "tools/call" ? ended.promise : (undefined as never)),
  });
  try {
    const gate = await server.stopped({ path: "/slow" });
    const proof = await server.sign(gate, "approve");
    const { status, body } = await server.post(`/approve/${gate.confirmation_id}/decision`, { proof });
    expect([status, body.status]).toEqual([200, "consumed"]);
    expect(server.called()).toEqual([{ path: "/slow" }]);
    ended.resolve({ content: [] });
    const statusNow = async () => (await server.gates.store.find(gate.confirmation_id))?.status;
    await expect.poll(statusNow).toBe("done");
    // Control: the same proof decides nothing a second time.
    const again = await server.post(`/approve/${gate.confirmation_id}/decision`, { proof });
    expect(again.status).toBeGreaterThanOrEqual(400);
  } finally {
    ended.resolve({ content: [] });
    await server.stop();
  }
});
