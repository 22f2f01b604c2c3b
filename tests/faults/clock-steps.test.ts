// Somebody sets the clock while the server runs. Order and every limit go by monotonic time; only tokens, which say
// when they end, go by the clock on the wall. The controls set the monotonic clock, and see what would happen.
import { once } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { enter, enterWith, positionOf, refusedOnConnect } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";
import { scale, timeout } from "./support/soak.ts";
import { createSteppedClock, type SteppedClock } from "./support/stepped-clock.ts";

const dayMs = 86_400_000;
const topic = "room:time";
/** Outlives every step. */
const long = { topic, ttlMs: 100 * dayMs };

type Step = (clock: SteppedClock) => void;
const wallSteps: [string, Step][] = [
  ["24 h forward", (clock) => clock.stepWall(dayMs)],
  ["24 h back", (clock) => clock.stepWall(-dayMs)],
];
const monotonicStep: Step = (clock) => clock.stepMonotonic(dayMs);

async function startServer(
  options: TestServerOptions = {},
): Promise<{ server: TestServer; clock: SteppedClock }> {
  const clock = createSteppedClock();
  const server = await startTestServer({ ...options, clock });
  onTestFinished(() => server.stop());
  return { server, clock };
}

test("order, seqs, acks and resume are as ever, and `at` does not go back", { timeout }, async () => {
  const { server, clock } = await startServer({ limits: { envelopesPerSecondFull: 1e6 } });
  const ada = await enter(server, "ada", long);
  const bob = await enter(server, "bob", { ...long, query: { seq: "1" } });
  const resume = positionOf(bob);
  const acks: Seen[] = [];
  for (const direction of Array.from({ length: scale(20, 2_000) }, (_, n) => [1, -1, -1, 1][n % 4] ?? 0)) {
    const ids = ["a", "b", "c"].map((text) => ada.say(text));
    for (const id of ids) acks.push(await ada.ack(id));
    clock.stepWall(direction * dayMs);
  }
  const seqs = acks.map((_, index) => index + 1);
  const times = acks.map(({ payload }) => payload.at);
  expect(acks.map(({ payload }) => payload.seq)).toEqual(seqs);
  expect(times).toEqual(times.toSorted());
  // Control: the clock that was read did go back.
  const read = acks.map(({ ts }) => ts);
  expect(read).not.toEqual(read.toSorted());

  const seen = async (client: TestClient) => {
    const chats: Seen[] = [];
    while (chats.length < seqs.length) chats.push(await client.find(({ kind }) => kind === "chat"));
    chats.push(...(await client.taken()));
    return chats.map(({ seq, at }) => [seq, at]);
  };
  const expected = seqs.map((seq, index) => [seq, times[index]]);
  expect(await seen(bob)).toEqual(expected);
  const again = await enter(server, "bob", { ...long, query: { seq: "1", resume } });
  expect(again.welcome.payload.resumed).toBe(true);
  expect(await seen(again)).toEqual(expected);
});

describe("a sender that has used up its rate", () => {
  async function outcomeAfter(step: Step): Promise<string> {
    // A burst of four, and a fifth after more than a minute.
    const { server, clock } = await startServer({
      limits: { envelopesPerSecondFull: 0.01, burstFactor: 400 },
    });
    const ada = await enter(server, "ada", long);
    for (let n = 0; n < 4; n += 1) expect(await ada.outcome(ada.say(`${n}`))).toBe("ack");
    expect(await ada.outcome(ada.say("too much"))).toBe("rate_limited");
    step(clock);
    return ada.outcome(ada.say("again"));
  }

  test.for(wallSteps)("[X0-9-4] has to wait all the same when the clock steps %s", async ([, step]) => {
    expect(await outcomeAfter(step)).toBe("rate_limited");
  });

  test("control: would not have to, if it went by a clock that steps", async () => {
    expect(await outcomeAfter(monotonicStep)).toBe("ack");
  });
});

describe("a silent connection and one that does not read", () => {
  /** Ada and Bob are silent, Cyd has stopped reading while something waits for it. */
  async function arrange(limits: TestServerOptions["limits"]) {
    const { server, clock } = await startServer({
      limits: {
        ...limits,
        pingIntervalMs: 1_000,
        queueBytesMax: 1e9,
        queueEnvelopesMax: 1e6,
        envelopesPerSecondFull: 1e6,
      },
    });
    const [ada, bob, cyd] = [
      await enter(server, "ada", long),
      await enter(server, "bob", long),
      await enter(server, "cyd", long),
    ];
    const admin = await server.token({ sub: "admin", topics: ["**"], admin: true }, long.ttlMs);
    const connections = async (): Promise<Seen[]> =>
      (await server.call("GET", "/admin/connections", admin)).body.connections;
    const isStalled = async () =>
      (await connections()).some(
        ({ participantId, queuedBytes }) => participantId === "cyd" && queuedBytes > 0,
      );
    cyd.ws.pause();
    // A server that stops would wait for it.
    onTestFinished(() => cyd.ws.terminate());
    while (!(await isStalled())) expect(await ada.outcome(ada.say("x".repeat(200_000)))).toBe("ack");
    const present = async () => (await connections()).map(({ participantId }) => participantId);
    return { clock, bob, present };
  }

  test.for(wallSteps)("are left alone when the clock steps %s", { timeout }, async ([, step]) => {
    const { clock, bob, present } = await arrange({ pingTimeoutMs: 60_000, queueStallMs: 60_000 });
    step(clock);
    // Two pings: everybody was looked at in between.
    await once(bob.ws, "ping");
    await once(bob.ws, "ping");
    expect(await present()).toEqual(["ada", "bob", "cyd"]);
  });

  test.for([
    ["the silent", { pingTimeoutMs: 60_000, queueStallMs: 9 * dayMs }, []],
    ["the stalled", { pingTimeoutMs: 9 * dayMs, queueStallMs: 60_000 }, ["ada", "bob"]],
  ] as const)(
    "control: %s would go, if it went by a clock that steps",
    { timeout },
    async ([, limits, left]) => {
      const { clock, present } = await arrange(limits);
      const goes = async () => {
        // Again and again: a pong that was under way while it stepped is a sign of life after it.
        clock.stepMonotonic(120_000);
        expect(await present()).toEqual(left);
      };
      await vi.waitFor(goes, { timeout: 20_000 });
    },
  );
});

describe("a ticket", () => {
  async function entranceAfter(step: Step): Promise<string> {
    const { server, clock } = await startServer();
    const token = await server.token({ sub: "ada", topics: [topic] }, long.ttlMs);
    const { ticket } = (await server.call("POST", "/v0/tickets", token, { topic })).body;
    step(clock);
    return enterWith(server, undefined, { topic, ticket }).then(
      () => "welcome",
      ({ message }) => message,
    );
  }

  test.for(wallSteps)("[X0-5.1-1] is good when the clock steps %s", async ([, step]) => {
    expect(await entranceAfter(step)).toBe("welcome");
  });

  test("control: ends after its time, if it went by a clock that steps", async () => {
    expect(await entranceAfter(monotonicStep)).toBe("401 ticket_invalid");
  });
});

describe("a token", () => {
  test("[X0-5.1-2] ends by the clock on the wall", async () => {
    const { server, clock } = await startServer();
    const token = await server.token({ sub: "ada", topics: [topic] }, 3_600_000);
    const ada = await enterWith(server, token, { topic });
    clock.stepMonotonic(dayMs);
    expect(await ada.outcome(ada.say("control: not by the other"))).toBe("ack");
    clock.stepWall(dayMs);
    expect(await ada.closing()).toEqual({ code: 4401, reason: "token_expired" });
    expect((await refusedOnConnect(server, token, { topic })).message).toBe("401 token_expired");
    clock.stepWall(-dayMs);
    await enterWith(server, token, { topic });
  });

  test("that was revoked stays so, whatever the clock shows meanwhile", async () => {
    const { server, clock } = await startServer();
    const token = await server.token({ sub: "ada", topics: [topic] }, 3_600_000);
    const ada = await enterWith(server, token, { topic });
    await server.identity.revocations.revoke(JSON.parse(atob(token.split(".")[1] ?? "")).jti);
    expect(await ada.closing()).toEqual({ code: 4401, reason: "token_revoked" });
    clock.stepWall(dayMs);
    // Whatever is forgotten is forgotten now.
    await server.identity.revocations.revoke("another");
    await server.restart();
    clock.stepWall(-dayMs);
    expect((await refusedOnConnect(server, token, { topic })).message).toBe("401 token_revoked");
  });
});
