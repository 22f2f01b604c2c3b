// Failovers as a cluster manager of the field makes them.
import { expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../packages/gateway/src/topic-log/cases.ts";
import { timeout } from "../faults/support/soak.ts";
import { hasPatroni, type PatroniNode, startPatroni } from "./support/patroni.ts";
import { isBack, open, talk } from "./support/watched-log.ts";

test.runIf(hasPatroni())(
  "[B-DUR-1] under Patroni a primary that is killed, and one that is paused, are left with everything that was acknowledged",
  { timeout },
  async () => {
    const cluster = await startPatroni();
    onTestFinished(() => cluster[Symbol.asyncDispose]());
    const long = { timeout: 180_000, interval: 200 };
    /** Another than the former, with so many standbys that would be promoted. */
    const leaderAfter = async (former: PatroniNode | undefined, others: number): Promise<PatroniNode> => {
      let found: PatroniNode | undefined;
      const look = async () => {
        for (const node of cluster.nodes.filter((one) => one !== former)) {
          if (((await node.leads())?.others ?? -1) >= others) found = node;
        }
        return found;
      };
      await expect.poll(look, long).toBeDefined();
      return found as PatroniNode;
    };
    const tuning = { answerTimeoutMs: 5_000, retryMinMs: 50, retryMaxMs: 500 };
    await leaderAfter(undefined, 1);
    await expect
      .poll(() => open({ url: cluster.url("there"), tuning }).then(({ log }) => log.append(newEntry())), long)
      .toMatchObject({ outcome: "appended" });
    const { log, told, failures } = await open({ url: cluster.url("room"), tuning });
    const acknowledged: { id: string; seq: number }[] = [];
    for (const [round, how] of (["SIGKILL", "SIGSTOP"] as const).entries()) {
      // One of those that are left has everything.
      const former = await leaderAfter(undefined, 1);
      const talking = talk(log, round);
      await expect.poll(() => talking.acknowledged.length, long).toBeGreaterThan(300);
      former.signal(how);
      await talking.ended;
      await leaderAfter(former, 0);
      former.signal("SIGCONT");
      acknowledged.push(...talking.acknowledged);
      await expect.poll(() => isBack(told), long).toBe(true);
      await expect
        .poll(() => log.append(newEntry({ id: `after ${round}` })).catch((error) => error.code), long)
        .toMatchObject({ seq: expect.any(Number) });
      for (const { id, seq } of acknowledged) expect(await log.find("room", id)).toMatchObject({ seq });
    }
    const { last } = await log.bounds("room");
    const entries = await log.read("room", { limit: last, order: "oldest_first" });
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, n) => n + 1));
    expect(failures).toEqual([]);
  },
);
