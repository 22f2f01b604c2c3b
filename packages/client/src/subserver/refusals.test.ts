import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { kitchenV1, kitchenV2 } from "../../testing/kitchens.ts";
import { openAggregator, openSubserver } from "../../testing/open.ts";
import { type Aggregator, refusal } from "../../testing/scripted-aggregator.ts";

const refuse = (aggregator: Aggregator, reason: string, more = {}) => {
  aggregator.script["mcpax/register"] = () => refusal(reason, more);
};

const finals = ["namespace_conflict", "bad_params", "unauthorised", "token_revoked", "authority_unproven"];

describe.each(["websocket", "http"] as const)("over %s", (transport) => {
  test.each(finals)(
    "[AX-13.3-3] %s is the end where there is no backup, and not where there is one",
    async (reason) => {
      const aggregator = await openAggregator();
      refuse(aggregator, reason);
      const subserver = openSubserver(aggregator.url, { transport });
      await expect(subserver.registered).rejects.toMatchObject({ reason });
      expect(await subserver.ended).toMatchObject({ reason });
      expect(subserver.state).toBe("over");
      expect(aggregator.visits).toHaveLength(1);

      const backup = await openAggregator();
      const other = openSubserver(aggregator.url, { transport, backups: [backup.url] });
      expect(await other.registered).toMatchObject({ aggregator_id: backup.id });
      expect(aggregator.visits).toHaveLength(2);
    },
  );

  test("where all refuse, it is over", async () => {
    const [one, two] = [await openAggregator(), await openAggregator()];
    refuse(one, "namespace_conflict");
    refuse(two, "authority_unproven");
    const subserver = openSubserver(one.url, { transport, backups: [two.url] });
    await expect(subserver.registered).rejects.toMatchObject({ reason: "authority_unproven" });
    expect([one.visits.length, two.visits.length]).toEqual([1, 1]);
  });

  test("no token that counts: over, and said so", async () => {
    const aggregator = await openAggregator({ status: 401 });
    const openSocket = (url: string, headers: Record<string, string>) => new WebSocket(url, { headers });
    const subserver = openSubserver(aggregator.url, { transport, openSocket });
    await expect(subserver.registered).rejects.toMatchObject({ reason: "unauthorised" });
  });

  test("an aggregator that talks nonsense is left, and visited again", async () => {
    const aggregator = await openAggregator();
    aggregator.script["mcpax/register"] = (_params, visit, usual) => {
      const { length } = aggregator.visits;
      if (length === 1) visit.sendText("[]");
      else if (length === 2) return { result: { status: "registered", session_id: 7 } };
      return usual();
    };
    const reasons: unknown[] = [];
    const onState = (state: string, error: unknown) => {
      if (state === "waiting") reasons.push((error as { reason: string }).reason);
    };
    await openSubserver(aggregator.url, { transport, onState }).registered;
    expect(reasons).toEqual(["bad_answer", "bad_answer"]);
  });

  test("a token or a factory that fails is tried again, unless it never worked", async () => {
    const aggregator = await openAggregator();
    let count = 0;
    const token = () => {
      count += 1;
      if (count === 1) throw new Error("no tokens today");
      return "t";
    };
    let servers = 0;
    const server = () => {
      servers += 1;
      if (servers === 2) throw new Error("no servers today");
      return kitchenV1().server;
    };
    const subserver = openSubserver(aggregator.url, { transport, token, server });
    await subserver.registered;
    aggregator.visits[0]?.close();
    await expect.poll(() => aggregator.visits[1]?.parent).toBeTypeOf("object");
    expect([count, servers]).toEqual([3, 3]);

    const never = openSubserver(aggregator.url, {
      transport,
      server: () => Promise.reject(new Error("broken")),
    });
    await expect(never.registered).rejects.toMatchObject({ reason: "server_failed" });
  });
});

test.each(["namespace_conflict", "unauthorised", "token_expired"])(
  "%s of one that was registered is tried again, with a new token each time",
  async (reason) => {
    const aggregator = await openAggregator();
    let count = 0;
    const token = async () => `token-${++count}`;
    const subserver = openSubserver(aggregator.url, { token });
    await subserver.registered;
    refuse(aggregator, reason);
    aggregator.visits[0]?.close();
    await expect.poll(() => aggregator.visits.length).toBeGreaterThan(2);
    aggregator.script["mcpax/register"] = undefined;
    await expect.poll(() => subserver.state).toBe("registered");
    const tokens = aggregator.visits.map(({ headers }) => headers.authorization);
    expect(tokens).toEqual(tokens.map((_, index) => `Bearer token-${index + 1}`));
  },
);

test("[AX-13.3-3] [AX-13.4-1] one that is registered elsewhere waits as long as it is told to", async () => {
  const aggregator = await openAggregator();
  const times: number[] = [];
  aggregator.script["mcpax/register"] = (_params, _visit, usual) => {
    times.push(performance.now());
    return times.length === 1 ? refusal("duplicate_subserver", { retry_after_ms: 400 }) : usual();
  };
  await openSubserver(aggregator.url).registered;
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(390);
  expect(times).toHaveLength(2);
});

test.each([
  [4403, "namespace_conflict", "namespace_conflict"],
  [4400, "bad_json", "bad_json"],
  [4401, "token_revoked", "unauthorised"],
])("close code %i before it is registered is the end", async (code, word, reason) => {
  const aggregator = await openAggregator();
  aggregator.script["mcpax/register"] = (_params, visit) => void visit.close(code, word);
  await expect(openSubserver(aggregator.url).registered).rejects.toMatchObject({ reason });
  expect(aggregator.visits).toHaveLength(1);
});

test.each([4503, 4500, 1000, 1001, 4401])("after close code %i it comes back", async (code) => {
  const aggregator = await openAggregator();
  const subserver = openSubserver(aggregator.url);
  await subserver.registered;
  aggregator.visits[0]?.close(code, "why");
  await expect.poll(() => aggregator.visits[1]?.parent).toBeTypeOf("object");
});

test("[AX-13.4-1] who is replaced by another with its id does not fight for its place", async () => {
  const aggregator = await openAggregator();
  const backup = await openAggregator();
  const subserver = openSubserver(aggregator.url, { backups: [backup.url] });
  await subserver.registered;
  aggregator.visits[0]?.close(4409, "it has registered again");
  expect(await subserver.ended).toMatchObject({ code: 4409 });
  expect([aggregator.visits.length, backup.visits.length]).toEqual([1, 0]);
});

test.each([
  ["1", kitchenV1],
  ["2", kitchenV2],
])(
  "an instance of SDK v%s that is in use elsewhere is refused with the reason why",
  async (_version, create) => {
    const aggregator = await openAggregator();
    const { server } = create();
    await openSubserver(aggregator.url, { server }).registered;
    const second = openSubserver(aggregator.url, { server, segment: "other" });
    await expect(second.registered).rejects.toThrow(/give a factory/);
    // It does not stay in the tree as one that answers nothing.
    expect(aggregator.visits[1]?.heard.at(-1)?.method).toBe("mcpax/deregister");
  },
);

test("[AX-6.3-4] a server that is closed leaves the tree, and does nothing more", async () => {
  const aggregator = await openAggregator();
  const kitchen = kitchenV1();
  const subserver = openSubserver(aggregator.url, { server: kitchen.server });
  await subserver.registered;
  await aggregator.visits[0]?.ask("tools/call", { name: "bake", arguments: {} });
  aggregator.script["mcpax/deregister"] = (_params, visit, usual) => {
    void visit.ask("tools/call", { name: "bake", arguments: {} });
    return usual();
  };
  await kitchen.server.close();
  expect(await subserver.ended).toBeUndefined();
  expect(aggregator.count("mcpax/deregister")).toBe(1);
  expect(kitchen.count).toBe(1);
});

test("where the platform's WebSocket takes no headers, as in browsers, it is said what to do", async () => {
  const aggregator = await openAggregator();
  vi.stubGlobal(
    "WebSocket",
    class {
      constructor() {
        throw new SyntaxError("the subprotocol '[object Object]' is invalid");
      }
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  await expect(openSubserver(aggregator.url).registered).rejects.toThrow(/use transport "http"/);
  await openSubserver(aggregator.url, { transport: "http" }).registered;
});

test("closing works at every moment, and what was waited for is told", async () => {
  const aggregator = await openAggregator();
  aggregator.script["mcpax/register"] = () => undefined;
  const connecting = openSubserver(aggregator.url);
  await expect.poll(() => aggregator.count("mcpax/register")).toBe(1);
  await connecting.close();
  await expect(connecting.registered).rejects.toMatchObject({ reason: "closed" });

  const atOnce = openSubserver(aggregator.url);
  await atOnce.close();
  expect(await atOnce.ended).toBeUndefined();

  const waiting = openSubserver("http://127.0.0.1:1");
  await expect.poll(() => waiting.state).toBe("waiting");
  await waiting.close();
  await expect(waiting.update()).rejects.toMatchObject({ reason: "bad_option" });
  expect(waiting.state).toBe("over");

  const preparing = openSubserver(aggregator.url, { token: () => new Promise<string>(() => {}) });
  await preparing.close();
  expect(preparing.state).toBe("over");
});
