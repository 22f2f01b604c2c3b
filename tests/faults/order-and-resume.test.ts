// One total order for everybody, through any number of cuts: against the simplest model there is, a list.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Delivered, ResumingClient } from "../support/resuming-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const isSoak = process.env.MCPX_SOAK === "1";
const publishers = 8;
const subscribers = 20;
const each = isSoak ? 2_000 : 60;

const limits = { envelopesPerSecondFull: 100_000, handshakesPerSecond: 100_000, faultsPerMinute: 1_000_000 };

async function client(server: TestServer, id: string): Promise<ResumingClient> {
  const token = await server.token({ sub: id, topics: ["race"], level: "full" }, 3_600_000);
  return new ResumingClient(() => `${server.url.replace("http", "ws")}/v0/ws?topic=race`, token);
}

/** What every participant saw, judged against the history as the model. */
function judge(history: readonly Delivered[], clients: readonly ResumingClient[]): string[] {
  const faults = clients.flatMap((one) => one.faults);
  history.forEach(({ seq }, index) => {
    if (seq !== index + 1) faults.push(`history has ${seq} at place ${index + 1}`);
  });
  for (const one of clients) {
    const others = history.filter(({ id }) => !one.acked.has(id));
    if (JSON.stringify(one.seen) !== JSON.stringify(others))
      faults.push("a participant saw something else than history");
    for (const [id, seq] of one.acked)
      if (history[seq - 1]?.id !== id) faults.push(`${id} was acked as ${seq}`);
  }
  return faults;
}

async function readHistory(server: TestServer): Promise<Delivered[]> {
  const token = await server.token({ sub: "reader", topics: ["race"] });
  const history: Delivered[] = [];
  let path: string | undefined = "/v0/topics/race/history?limit=1000";
  while (path !== undefined) {
    // biome-ignore lint/suspicious/noExplicitAny: the REST answer
    const { body }: { body: any } = (await server.call("GET", path, token)) as never;
    for (const { seq, id, from, payload } of body.envelopes)
      history.unshift({ seq, id, from, text: payload.text });
    path = body.next;
  }
  return history;
}

test("[B-RESUME-1] eight publishers and twenty subscribers see one order through random cuts, nothing lost, nothing twice", {
  timeout: isSoak ? 600_000 : 60_000,
}, async () => {
  const server = await startTestServer({ limits });
  const talking = await Promise.all(
    Array.from({ length: publishers }, (_, i) => client(server, `speaker-${i}`)),
  );
  const listening = await Promise.all(
    Array.from({ length: subscribers }, (_, i) => client(server, `listener-${i}`)),
  );
  const all = [...talking, ...listening];
  const running = all.map((one) => one.run());
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await sleep(5);
  };
  await until(() => all.every(({ position }) => position !== undefined));

  const done = Promise.all(
    talking.map(async (one, i) => {
      for (let n = 0; n < each; n += 1) {
        one.publish(`${i}:${n}`);
        await sleep(Math.random() * 4);
        if (Math.random() < 0.05) one.cut();
      }
    }),
  );
  let isTalking = true;
  const cutting = (async () => {
    while (isTalking) {
      listening[Math.floor(Math.random() * listening.length)]?.cut();
      await sleep(5);
    }
  })();
  await done;
  isTalking = false;
  await cutting;
  await until(() => talking.every(({ unacked }) => unacked.size === 0));
  const history = await readHistory(server);
  await until(() => all.every(({ position }) => position?.seq === history.length));
  for (const one of all) one.stop();
  await Promise.all(running);

  expect(history).toHaveLength(publishers * each);
  expect(judge(history, all)).toEqual([]);
  // Per sender, first in is first out, as far as it was never cut between.
  expect(all.reduce((sum, { connects }) => sum + connects, 0)).toBeGreaterThan(all.length);

  // Controls: the judge sees a lost, a doubled and a swapped envelope.
  const witness = listening[0] as ResumingClient;
  const damaged = (damage: (seen: Delivered[]) => void) => {
    const copy = new ResumingClient(() => "", "");
    copy.seen.push(...witness.seen);
    damage(copy.seen);
    return judge(history, [copy]).length;
  };
  expect(damaged(() => {})).toBe(0);
  expect(damaged((seen) => seen.splice(10, 1))).toBeGreaterThan(0);
  expect(damaged((seen) => seen.splice(10, 0, seen[10] as Delivered))).toBeGreaterThan(0);
  expect(damaged((seen) => seen.splice(10, 2, seen[11] as Delivered, seen[10] as Delivered))).toBeGreaterThan(
    0,
  );
  await server.stop();
});
