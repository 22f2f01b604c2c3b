// Random floods of one stranger: `npm run soak -- floods`. MCPX_FLOOD_SEED runs a seed again, MCPX_FLOODS says how many.
import { afterAll, expect, test } from "vitest";
import { lineOf, numbersFrom, randomFlood, runFloods, worstOf } from "../../bench/fairness/floods.ts";
import { makeScene } from "../../bench/fairness/scene.ts";
import { scale, timeout } from "./support/soak.ts";

const floodMs = scale(1_000, 2_000);
const plant = ["--import", new URL("./support/plant.ts", import.meta.url).href];
const harmless = ["jwks-32", "admin-gates-32", "no-such-path-32"];

const scene = await makeScene();
afterAll(() => scene.end());

const print = (line: string) => process.stdout.write(`floods: ${line}\n`);
const planted = (path: string) => [{ name: "no-such-path-32", path, concurrency: 1 }];

test("control: a route that was planted to be slow is the worst of all", { timeout }, async () => {
  const floods = [...harmless.map((name) => [{ name }]), planted("/planted/stall/1000")];
  const results = await runFloods({ scene, floods, ms: floodMs, nodeArgs: plant });
  expect(worstOf(results, 1).map(lineOf)).toEqual([expect.stringContaining("/planted/stall/1000")]);
});

test("control: a gateway that dies, and an honest server that is expelled, are faults", {
  timeout,
}, async () => {
  const floods = [planted("/planted/death"), planted("/planted/stall-once/5000")];
  const [death, stall] = await runFloods({ scene, floods, ms: floodMs, nodeArgs: plant });
  expect(death?.faults).toEqual([expect.stringContaining("the gateway ended")]);
  expect(stall?.faults).toContain("expelled: server 4500");
});

const count = Number(process.env.MCPX_FLOODS ?? scale(0, 100));

// For soak: elsewhere there is no such test, rather than one that is skipped.
if (count > 0) {
  test("no flood ends the gateway, expels anybody or keeps anybody out", { timeout }, async () => {
    const seed = Number(process.env.MCPX_FLOOD_SEED ?? Math.floor(Math.random() * 2 ** 32));
    print(`seed ${seed}, ${count} floods (MCPX_FLOOD_SEED=${seed} runs them again)`);
    const random = numbersFrom(seed);
    const floods = Array.from({ length: count }, () => randomFlood(random));
    const results = await runFloods({ scene, floods, ms: floodMs, note: (result) => print(lineOf(result)) });
    print("the worst ten");
    for (const result of worstOf(results, 10)) print(lineOf(result));
    expect(results.filter(({ faults }) => faults.length > 0).map(lineOf)).toEqual([]);
  });
}
