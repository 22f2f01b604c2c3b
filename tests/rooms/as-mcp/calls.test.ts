// A room as an MCP server: any MCP client lists and calls what its participants serve, talks, looks around.
import { describe, expect, test } from "vitest";
import { join, nextEvent, rejection, seen, startHouse, textOf, topic } from "../../client/support/house.ts";
import { kitchenV1, kitchenV2 } from "../../client/support/sdk-servers.ts";
import { kinds, openRoomEndpoint, type Result } from "./support/room-endpoint.ts";

const own = ["chat.say", "history.get", "presence.get", "proposals.wait"];

describe.each(kinds)("%s", (kind) => {
  test("[B-ROOM-1] lists and calls the tools of everybody, with progress", async () => {
    const house = await startHouse();
    const oven = await join(house, "oven", { kind: "robot" });
    await oven.serve(kitchenV1().server);
    const stove = await join(house, "stove");
    await stove.serve(kitchenV2().server);
    const roomEndpoint = await openRoomEndpoint(house, kind, "alice");
    const served = ["count", "echo", "wait"];
    expect(await roomEndpoint.names()).toEqual(
      [...own, ...["oven", "stove"].flatMap((id) => served.map((tool) => `${id}.${tool}`))].sort(),
    );
    expect(textOf(await roomEndpoint.call("stove.echo", { text: "hi" }))).toBe("hi");
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
    expect(textOf(await roomEndpoint.call("oven.count", { to: 5 }, { onprogress }))).toBe("5");
    expect(steps.length).toBeGreaterThan(0);
    expect(roomEndpoint.instructions).toContain("as alice");
  });

  test("[B-ROOM-1] a cancelled call is cancelled at the participant", async () => {
    const house = await startHouse();
    const oven = await join(house, "oven");
    const { server, done, waiting } = kitchenV2();
    await oven.serve(server);
    const roomEndpoint = await openRoomEndpoint(house, kind, "alice");
    const abort = new AbortController();
    const call = rejection(roomEndpoint.call("oven.wait", {}, { signal: abort.signal }));
    await waiting;
    abort.abort(new Error("no longer hungry"));
    await call;
    await expect.poll(() => done).toEqual(["wait cancelled"]);
  });

  test("[X0-8.2-1] says, looks around and reads back", async () => {
    const house = await startHouse();
    const bob = await join(house, "bob", { kind: "human" });
    const roomEndpoint = await openRoomEndpoint(house, kind, "alice");
    const heard = nextEvent(bob, "chat");
    const said = await roomEndpoint.call("chat.say", {
      text: "Dinner is *ready*",
      format: "markdown",
      to: ["bob"],
    });
    expect(await heard).toMatchObject({
      from: "alice",
      text: "Dinner is *ready*",
      format: "markdown",
      to: ["bob"],
    });
    expect(said.structuredContent).toMatchObject({ id: expect.any(String), seq: expect.any(Number) });
    await bob.say("coming");
    await expect
      .poll(
        async () =>
          (await roomEndpoint.call("history.get", { limit: 1 })).structuredContent.envelopes[0].payload,
      )
      .toEqual({ text: "coming" });
    const page = (await roomEndpoint.call("history.get", { limit: 1 })).structuredContent;
    const before = (await roomEndpoint.call("history.get", { limit: 5, before: page.next_before }))
      .structuredContent;
    expect(before.envelopes[0]).toMatchObject({ from: "alice", kind: "chat", to: ["bob"] });
    const { structuredContent: here } = await roomEndpoint.call("presence.get");
    expect(here).toMatchObject({ topic, you: { id: "alice", privilege: "full" } });
    expect(here.participants).toEqual([{ id: "bob", kind: "human", privilege: "full", tools_as: "bob" }]);
  });

  test("[B-ROOM-1] is told when tools come and go", async () => {
    const house = await startHouse();
    const roomEndpoint = await openRoomEndpoint(house, kind, "alice");
    await roomEndpoint.listen();
    expect(await roomEndpoint.names()).toEqual(own);
    const oven = await join(house, "oven");
    const { server, addTool } = kitchenV1();
    await oven.serve(server);
    await expect.poll(roomEndpoint.changes).toBeGreaterThan(0);
    expect(await roomEndpoint.names()).toContain("oven.echo");
    const before = roomEndpoint.changes();
    addTool("bake");
    await expect.poll(roomEndpoint.changes).toBeGreaterThan(before);
    expect(await roomEndpoint.names()).toContain("oven.bake");
    const last = roomEndpoint.changes();
    await oven.close();
    await expect.poll(roomEndpoint.changes).toBeGreaterThan(last);
    expect(await roomEndpoint.names()).toEqual(own);
  });
});

test("[B-ROOM-1] what the tools say of themselves is said on, and the room's own say honestly what they do", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server } = kitchenV1();
  (
    server as ReturnType<typeof kitchenV1>["server"] & { registerTool: (...args: unknown[]) => void }
  ).registerTool(
    "look",
    { title: "Look", description: "Looks", annotations: { readOnlyHint: true }, inputSchema: {} },
    async () => ({ content: [] }),
  );
  await oven.serve(server);
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice");
  const tools = await roomEndpoint.tools();
  const find = (name: string) => tools.find((tool) => tool.name === name);
  expect(find("oven.look")).toMatchObject({
    title: "Look",
    description: "Looks",
    annotations: { readOnlyHint: true },
  });
  expect(find("oven.look")._meta["x-mcpx-participant"]).toBe("oven");
  expect(find("chat.say").annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  for (const name of ["presence.get", "history.get", "proposals.wait"]) {
    expect(find(name).annotations).toMatchObject({ readOnlyHint: true });
  }
});

test("[B-ROOM-1] ids that are no segments get an alias, and stay apart", async () => {
  const house = await startHouse();
  for (const id of ["Oven.1", "oven_1", "agent:oven@1", "chat"]) {
    const room = await join(house, id);
    await room.serve(kitchenV1().server);
  }
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice");
  const { participants } = (await roomEndpoint.call("presence.get")).structuredContent;
  const aliases = new Map<string, string>(
    participants.map((one: { id: string; tools_as: string }) => [one.id, one.tools_as]),
  );
  expect(aliases.get("oven_1")).toBe("oven_1");
  expect(new Set(aliases.values()).size).toBe(4);
  const names = await roomEndpoint.names();
  for (const [id, alias] of aliases) {
    expect(names).toContain(`${alias}.echo`);
    expect(textOf(await roomEndpoint.call(`${alias}.echo`, { text: id }))).toBe(id);
  }
  // The room's own tool is not a participant's to take.
  expect((await roomEndpoint.call("chat.say", { text: "me" })).structuredContent.seq).toEqual(
    expect.any(Number),
  );
  // Names are never taken apart.
  expect(await rejection(roomEndpoint.call("Oven.1.echo", { text: "x" }))).toMatchObject({
    code: expect.any(Number),
  });
});

test("[B-ROOM-1] the participant's own socket is not replaced, and two clients of one id do not disturb each other", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const alice = await join(house, "alice");
  const roomEndpoints = await Promise.all(kinds.map((kind) => openRoomEndpoint(house, kind, "alice")));
  const results = await Promise.all([
    ...roomEndpoints.map((roomEndpoint, i) => roomEndpoint.call("oven.count", { to: 3 + i })),
    alice.peer("oven").callTool("count", { to: 9 }),
  ]);
  expect(results.map(textOf)).toEqual(["3", "4", "5", "9"]);
  expect(alice.state).toBe("live");
  expect(oven.peers.map(({ id }) => id)).toEqual(["alice"]);
  await Promise.all(roomEndpoints.map((roomEndpoint) => roomEndpoint.close()));
  await alice.say("still here");
});

test("[B-ROOM-1] one client serves under an id while another calls under it", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  await alice.serve(kitchenV1().server);
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice");
  expect(await roomEndpoint.names()).toEqual(own);
  const bob = await join(house, "bob");
  await seen(bob, "alice");
  expect(textOf(await bob.peer("alice").callTool("echo", { text: "hi" }))).toBe("hi");
});

test("[B-ROOM-1] a participant that leaves while it is called ends the call; the others stay", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, waiting } = kitchenV1();
  await oven.serve(server);
  const stove = await join(house, "stove");
  await stove.serve(kitchenV1().server);
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice");
  const call = rejection(roomEndpoint.call("oven.wait"));
  await waiting;
  await oven.close();
  expect((await call).message).toContain("oven has left the room");
  expect(textOf(await roomEndpoint.call("stove.echo", { text: "hi" }))).toBe("hi");
});

test("[B-ROOM-1] where only a client is left of a participant that served, calls fail at once and its tools go", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  await openRoomEndpoint(house, "v1", "oven");
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice");
  expect(await roomEndpoint.names()).toContain("oven.echo");
  await oven.close();
  const began = performance.now();
  expect((await rejection(roomEndpoint.call("oven.echo", { text: "x" }))).message).toContain(
    "Nothing is served here",
  );
  expect(performance.now() - began).toBeLessThan(10_000);
  await expect.poll(roomEndpoint.names).toEqual(own);
});

test("[B-ROOM-1] names come in the dialect of the client", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const token = await house.token({ sub: "alice", topics: [topic], level: "full" });
  const call = async (method: string, params: object) => {
    const response = await fetch(`${house.url}/rooms/${encodeURIComponent(topic)}/mcp?names=safe`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...("name" in params && { "mcp-name": String(params.name) }),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    return (await response.json()) as Result;
  };
  const { result, error } = await call("tools/list", {});
  expect(error).toBeUndefined();
  const name = result.tools
    .map((tool: { name: string }) => tool.name)
    .find((one: string) => /oven.*echo/.test(one));
  expect(name).not.toContain(".");
  const answer = await call("tools/call", { name, arguments: { text: "hi" } });
  expect(answer.result.content[0].text).toBe("hi");
});
