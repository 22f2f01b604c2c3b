// How topics come to be, how many, and which options each has.
import { afterEach, expect, test } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";

let server: TestServer;
const start = async (options: TestServerOptions = {}) => {
  server = await startTestServer(options);
};
afterEach(() => server.stop());

const everything = () => server.token({ sub: "anyone", topics: ["**"], level: "full" });
const names = async () => {
  const { body } = await server.call("GET", "/v0/topics", await everything());
  return body.topics.map(({ name }: { name: string }) => name);
};

test("[X0-2.2-1] a topic comes to be by the first join of a token that allows it, and stays", async () => {
  await start();
  expect(await names()).toEqual([]);
  expect((await server.call("GET", "/v0/topics/room:new/history", await everything())).status).toBe(404);
  const client = await enter(server, "first", { topic: "room:new" });
  expect(await names()).toEqual(["room:new"]);
  await client.ack(client.say("hello"));
  await client.leave();
  await server.restart();
  const { body } = await server.call("GET", "/v0/topics", await everything());
  expect(body.topics).toEqual([{ name: "room:new", participants: 0, seq: 1 }]);
});

test("[X0-5.3-1] the list of topics names the proposals that wait in each, until they end", async () => {
  await start();
  const client = await enter(server, "agent", { topic: "room:a" });
  await client.ack(client.say("hello"));
  const payload = { method: "tools/call", params: { name: "heat" }, ttl_ms: 60_000 };
  const proposal = client.send({ kind: "mcp/proposal", to: [], payload });
  await client.ack(proposal);
  const topics = async () =>
    (await server.call("GET", "/v0/topics", await everything())).body.topics as object[];
  expect(await topics()).toEqual([
    { name: "room:a", participants: 1, seq: 2, waiting: [{ id: proposal, seq: 2 }] },
  ]);
  await client.ack(client.send({ kind: "mcpx.withdraw.proposal", correlation_id: proposal, payload: {} }));
  expect(await topics()).toEqual([{ name: "room:a", participants: 1, seq: 3 }]);
});

test("[X0-2.2-1] asking for a topic does not make it, and neither does being refused", async () => {
  await start();
  const token = await everything();
  for (const what of ["history", "participants"])
    await server.call("GET", `/v0/topics/room:x/${what}`, token);
  await server.call("POST", "/v0/tickets", token, { topic: "room:x" });
  await refusedOnConnect(server, await server.token({ sub: "a", topics: ["room:y"] }), { topic: "room:x" });
  await refusedOnConnect(server, token, { topic: "room:x", protocol: "mcpx/v9" });
  expect(await names()).toEqual([]);
});

test("[X0-2.2-1] where only configuration makes topics, others are not found", async () => {
  await start({ gateway: { createTopics: "configured", topics: { "room:known": {} } } });
  await (await enter(server, "anyone", { topic: "room:known" })).leave();
  const refusal = await refusedOnConnect(server, await everything(), { topic: "room:unknown" });
  expect(refusal.message).toBe("404 not_found");
  expect(await names()).toEqual(["room:known"]);
});

test("beyond the limit of topics no new one is made, and the old ones go on", async () => {
  await start({ limits: { topicsMax: 2 } });
  for (const topic of ["room:a", "room:b"]) await (await enter(server, "anyone", { topic })).leave();
  const refusal = await refusedOnConnect(server, await everything(), { topic: "room:c" });
  expect(refusal.message).toBe("503 too_many_topics");
  await (await enter(server, "anyone", { topic: "room:a" })).leave();
  expect(await names()).toEqual(["room:a", "room:b"]);
});

test("[X0-5.3-5] options are those of the exact name, else of the longest glob that fits", async () => {
  await start({
    gateway: {
      topics: {
        "**": { history: false },
        "team/*": { history: true },
        "team/secret*": { history: false },
        "team/secret-but-kept": { history: true },
      },
    },
  });
  const isKept = async (topic: string) => {
    const client = await enter(server, "anyone", { topic });
    await client.leave();
    return client.welcome.payload.history.enabled;
  };
  expect(await isKept("elsewhere")).toBe(false);
  expect(await isKept("team/a")).toBe(true);
  expect(await isKept("team/a/deeper")).toBe(false);
  expect(await isKept("team/secret-plans")).toBe(false);
  expect(await isKept("team/secret-but-kept")).toBe(true);
});

test("[X0-2.2-1] two who open a topic at the same moment are in one room", async () => {
  await start();
  const ids = ["a", "b", "c", "d", "e"];
  const clients = await Promise.all(ids.map((id) => enter(server, id, { topic: "room:race" })));
  const [first] = clients;
  await first?.ack(first.say("all here?", { id: "q" }));
  for (const client of clients.slice(1)) await client.find(({ id }) => id === "q");
  const { body } = await server.call("GET", "/v0/topics/room:race/participants", await everything());
  expect(body.participants.map(({ id }: { id: string }) => id).sort()).toEqual(ids);
});

test("the limit of topics holds for many who come at once, each for a topic of its own", async () => {
  await start({ limits: { topicsMax: 3 } });
  const token = await everything();
  const topics = Array.from({ length: 20 }, (_, i) => `room:${i}`);
  const outcomes = await Promise.all(
    topics.map((topic) =>
      enterWith(server, token, { topic }).then(
        () => "in",
        ({ message }: Error) => message,
      ),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === "in")).toHaveLength(3);
  expect(outcomes.filter((outcome) => outcome === "503 too_many_topics")).toHaveLength(17);
  expect(await names()).toHaveLength(3);
});
