import { type Level, levelRank, levels } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { DecidedLevel } from "../state/room-state.ts";
import { defaultOptions, type GatewayOptions } from "./gateway-state.ts";
import { LevelDecisions } from "./level-decisions.ts";
import { levelFor } from "./level-for.ts";

const noDecisions = (): Promise<LevelDecisions> =>
  LevelDecisions.open({ decisions: async () => [], decide: async () => {} });

interface Sources {
  mode: GatewayOptions["mode"];
  decided: DecidedLevel | undefined;
  token: Level | undefined;
  known: Level | undefined;
  levelMax: Level;
}

/** The level, or the word of the refusal. */
async function outcome({ mode, decided, token, known, levelMax }: Sources): Promise<string> {
  const levelDecisions = await noDecisions();
  if (decided !== undefined) await levelDecisions.decide("alice", "room", decided, "admin", 0);
  const identities = known === undefined ? {} : { alice: { level: known } };
  const options = { ...defaultOptions, mode, identities };
  try {
    return levelFor({ options, levelDecisions }, { level: token, levelMax }, "alice", "room");
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** The rule as the contract words it. */
function expected({ mode, decided, token, known, levelMax }: Sources): string {
  if (decided === "none") return "kicked";
  if (decided !== undefined) return decided;
  const said = mode === "open" ? "full" : (token ?? known);
  if (said === undefined) return mode === "secure" ? "no_level" : "restricted";
  return levelRank(said) > levelRank(levelMax) ? levelMax : said;
}

test("[X1-5.1-1] [X1-5.1-3] [X1-6.1-1] every combination of mode and sources follows the rule", async () => {
  const perhaps = [undefined, ...levels];
  let combinations = 0;
  for (const mode of ["mixed", "secure", "open"] as const)
    for (const decided of [...perhaps, "none"] as const)
      for (const token of perhaps)
        for (const known of perhaps)
          for (const levelMax of levels) {
            const sources = { mode, decided, token, known, levelMax };
            expect(await outcome(sources), JSON.stringify(sources)).toBe(expected(sources));
            combinations += 1;
          }
  expect(combinations).toBe(3 * 5 * 4 * 4 * 3);
});

test("[X1-5.1-1] nobody is known by the name of an object's own parts", async () => {
  const options = { ...defaultOptions, mode: "secure" as const };
  const gateway = { options, levelDecisions: await noDecisions() };
  for (const id of ["constructor", "toString", "__proto__"]) {
    expect(() => levelFor(gateway, { levelMax: "full" }, id, "room")).toThrow(
      expect.objectContaining({ code: "no_level" }),
    );
  }
});
