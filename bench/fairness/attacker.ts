// The attacker, in a process of its own. Attacks of the table by their names, with another size or number where given.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Target, Verb } from "./attacks/attack.ts";
import { begin } from "./attacks/begin.ts";
import { attacks } from "./attacks/table.ts";
import { Tally, type TallyFigures } from "./attacks/tally.ts";
import { obey } from "./told.ts";

export interface AttackOrder {
  target: Target;
  /** `path` is another address for its requests. */
  attacks: readonly (Pick<Attack, "name"> &
    Partial<Pick<Attack, "bytes" | "concurrency" | "as"> & { path: string }>)[];
}

export interface AttackFigures {
  tallies: Record<string, TallyFigures>;
  /** Of this process, all its threads. */
  cores: number;
}

const beginMsMax = 10_000;
const ending = new AbortController();
setMaxListeners(0, ending.signal);
const tallies: Record<string, Tally> = {};
let beganAt = 0;
let cpuAtStart = process.cpuUsage();

obey({
  async begin({ target, attacks: orders }: AttackOrder) {
    const begun = orders.map((order) => {
      const known = attacks.find(({ name }) => name === order.name);
      if (known === undefined) throw new Error(`no attack is called ${order.name}`);
      const tally = new Tally();
      tallies[order.name] = tally;
      const verb = order.path === undefined ? known.verb : at(known.verb, order.path);
      const going = { target, attack: { ...known, ...order, verb }, tally, signal: ending.signal };
      return begin(going).catch((error: Error) => tally.answer(`not begun: ${error.message}`));
    });
    // Beside others an attack may wait long for what it needs first; those that have begun do not wait for it.
    await Promise.race([Promise.all(begun), sleep(beginMsMax)]);
    beganAt = performance.now();
    cpuAtStart = process.cpuUsage();
  },
  figures(): AttackFigures {
    const { user, system } = process.cpuUsage(cpuAtStart);
    return { tallies, cores: (user + system) / 1_000 / (performance.now() - beganAt) };
  },
});

function at(verb: Verb, path: string): Verb {
  return "request" in verb ? { ...verb, request: { ...verb.request, path } } : verb;
}
