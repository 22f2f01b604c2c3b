// A room as a part of the tree: its participants' tools under a name of the configuration, behind the tree's gates.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { join, nextEvent, startHouse, topic, wideLimits } from "../../client/support/house.ts";
import { kitchenV1, kitchenV2 } from "../../client/support/sdk-servers.ts";
import { refusedOnConnect } from "../../support/enter.ts";
import type { TestServer, TestServerOptions } from "../../support/test-server.ts";
import { connectSdk, kinds } from "../../tree/support/sdk-callers.ts";
import { openRoomEndpointWith } from "./support/room-endpoint.ts";

const withRoom = (
  config: TestServerOptions["config"] = {},
  server: { as?: string; trusted?: boolean } = {},
): TestServerOptions => ({
  limits: wideLimits,
  config: { ...config, mcpServers: { lab: { room: topic, ...server } } },
});

async function callerOf(house: TestServer, kind: (typeof kinds)[number] = "v1") {
  const token = await house.token({ sub: "ada", topics: [], tools: ["**"] });
  const caller = await connectSdk(kind, { url: `${house.url}/mcp?names=canonical`, token });
  onTestFinished(() => caller.close());
  return caller;
}

for (const kind of kinds) {
  test(`[B-TREE-1] a ${kind} client of the tree calls a room's participants as NAME.PARTICIPANT.TOOL`, async () => {
    const house = await startHouse(withRoom());
    const oven = await join(house, "oven");
    const { server, done, addTool } = kitchenV1();
    await oven.serve(server);
    const stove = await join(house, "Stove 1".replace(" ", "."));
    await stove.serve(kitchenV2().server);
    const caller = await callerOf(house, kind);
    const names = (await caller.tools()).filter((name) => name.startsWith("lab."));
    expect(names).toContain("lab.oven.echo");
    expect(names).toContain("lab.presence.get");
    expect(names.filter((name) => /^lab\.stove_1-[a-z0-9]{6}\.echo$/.test(name)).length).toBe(1);
    expect(await caller.call("lab.oven.echo", { text: "hi" })).toBe("hi");
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
    expect(await caller.call("lab.oven.count", { to: 4 }, { onprogress })).toBe("4");
    expect(steps.length).toBeGreaterThan(0);
    expect(done).toEqual(["echo hi", "count 4"]);
    expect(oven.peers).toContainEqual({ id: "tree.lab", kind: "agent", own: true, privilege: "full" });
    if (kind === "v2 modern") await caller.watch("note://none");
    addTool("bake");
    await expect.poll(caller.tools).toContain("lab.oven.bake");
    await oven.close();
    await expect.poll(caller.tools).not.toContain("lab.oven.echo");
  });
}

test("[B-TREE-1] participants are not trusted: what they say of their tools opens no gate", async () => {
  const gated = withRoom({ gates: { rules: [], hold: 0 } });
  const house = await startHouse(gated);
  const oven = await join(house, "oven");
  const { server, done } = kitchenV1();
  (server as never as { registerTool(...args: unknown[]): void }).registerTool(
    "look",
    { annotations: { readOnlyHint: true }, inputSchema: {} },
    async () => {
      done.push("look");
      return { content: [{ type: "text", text: "seen" }] };
    },
  );
  await oven.serve(server);
  const token = await house.token({ sub: "ada", topics: [], tools: ["**"] });
  const client = new Client({ name: "ada", version: "1" });
  const url = new URL(`${house.url}/mcp?names=canonical`);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  onTestFinished(() => client.close());
  const answer = await client
    .callTool({ name: "lab.oven.look", arguments: {} })
    .catch((error: Error) => error);
  expect(JSON.stringify(answer)).toContain("confirmation_");
  expect(done).toEqual([]);
  // The same where the operator trusts the room: the annotation counts.
  const trusting = await startHouse(withRoom({ gates: { rules: [], hold: 0 } }, { trusted: true }));
  const other = await join(trusting, "oven");
  await other.serve(kitchenV1().server);
  const caller = await callerOf(trusting);
  expect(await caller.call("lab.presence.get")).toContain("oven");
});

test("[B-TREE-1] the tree is no part of itself: neither its own connection nor its participant is listed", async () => {
  const house = await startHouse(withRoom({ topics: { [topic]: { tree: true } } }));
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const tree = oven.peers.map(({ id }) => id).sort();
  const caller = await callerOf(house);
  const names = await caller.tools();
  expect(names).toContain("lab.oven.echo");
  expect(names.filter((name) => name.startsWith("lab.tree"))).toEqual([]);
  expect(tree).toContain("tree");
  // Somebody who looks into the room does see the tree there.
  const token = await house.token({ sub: "ada", topics: [topic], tools: ["**"], level: "full" });
  const roomEndpoint = await openRoomEndpointWith(house, "v1", token);
  expect((await roomEndpoint.names()).some((name) => name.startsWith("tree."))).toBe(true);
});

test("[B-TREE-1] it goes by the name it is given, and nobody comes in by it", async () => {
  const house = await startHouse(withRoom({}, { as: "lab-tree" }));
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const joined = nextEvent(oven, "presence", ({ event }) => event === "join");
  const caller = await callerOf(house);
  expect(await caller.call("lab.oven.echo", { text: "hi" })).toBe("hi");
  expect((await joined).participant.id).toBe("lab-tree");
  const token = await house.token({ sub: "lab-tree", topics: [topic], level: "full" });
  expect((await refusedOnConnect(house, token, { topic })).status).toBeGreaterThanOrEqual(400);
});

test("[B-TREE-1] a demoted tree proposes, a kicked one is out, and both come back", async () => {
  const house = await startHouse(withRoom());
  const oven = await join(house, "oven");
  const { server, done } = kitchenV1();
  await oven.serve(server);
  const human = await join(house, "human");
  const caller = await callerOf(house);
  expect(await caller.call("lab.oven.echo", { text: "1" })).toBe("1");
  const admin = await house.adminToken();
  await house.call("POST", "/admin/participants/tree.lab/demote", admin);
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const call = caller.call("lab.oven.echo", { text: "2" });
  await human.proposals.fulfil((await proposed).proposal);
  expect(await call).toBe("2");
  await house.call("DELETE", "/admin/participants/tree.lab", admin);
  await expect(caller.call("lab.oven.echo", { text: "3" })).rejects.toThrow();
  expect(done).toEqual(["echo 1", "echo 2"]);
  await house.call("POST", "/admin/participants/tree.lab/promote", admin);
  await expect
    .poll(() => caller.call("lab.oven.echo", { text: "4" }).catch(({ message }: Error) => message))
    .toBe("4");
});
