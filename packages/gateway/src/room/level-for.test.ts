import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openDatabase } from "@mcpx/host";
import { type Level, levelRank, levels } from "@mcpx/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defaultOptions, type GatewayOptions } from "./gateway-state.ts";
import { type DecidedLevel, LevelDecisions } from "./level-decisions.ts";
import { levelFor } from "./level-for.ts";
import { gatewayMigrations } from "./state-schema.ts";

let folder: string;
let db: DatabaseSync;
let levelDecisions: LevelDecisions;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mcpx-levels-"));
  db = openDatabase(join(folder, "state.db"), { component: "gateway", migrations: gatewayMigrations });
  levelDecisions = new LevelDecisions(db);
});
afterAll(() => {
  db.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => db.exec("DELETE FROM level_decisions"));

interface Sources {
  mode: GatewayOptions["mode"];
  decided: DecidedLevel | undefined;
  token: Level | undefined;
  known: Level | undefined;
  levelMax: Level;
}

/** The level, or the word of the refusal. */
function outcome({ mode, decided, token, known, levelMax }: Sources): string {
  if (decided !== undefined) levelDecisions.decide("alice", "room", decided, "admin", 0);
  const identities = known === undefined ? {} : { alice: { level: known } };
  const options = { ...defaultOptions, mode, identities };
  try {
    return levelFor({ options, levelDecisions }, { level: token, levelMax }, "alice", "room");
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    db.exec("DELETE FROM level_decisions");
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

test("[X1-5.1-1] [X1-5.1-3] [X1-6.1-1] every combination of mode and sources follows the rule", () => {
  const perhaps = [undefined, ...levels];
  let combinations = 0;
  for (const mode of ["mixed", "secure", "open"] as const)
    for (const decided of [...perhaps, "none"] as const)
      for (const token of perhaps)
        for (const known of perhaps)
          for (const levelMax of levels) {
            const sources = { mode, decided, token, known, levelMax };
            expect(outcome(sources), JSON.stringify(sources)).toBe(expected(sources));
            combinations += 1;
          }
  expect(combinations).toBe(3 * 5 * 4 * 4 * 3);
});

test("[X1-5.1-1] nobody is known by the name of an object's own parts", () => {
  const gateway = { options: { ...defaultOptions, mode: "secure" as const }, levelDecisions };
  for (const id of ["constructor", "toString", "__proto__"]) {
    expect(() => levelFor(gateway, { levelMax: "full" }, id, "room")).toThrow(
      expect.objectContaining({ code: "no_level" }),
    );
  }
});

describe("[X1-5.1-3] decisions", () => {
  const decide = (topic: string | undefined, level: DecidedLevel, id = "alice") =>
    levelDecisions.decide(id, topic, level, "admin", 0);
  const find = (topic: string, id = "alice") => levelDecisions.find(id, topic);

  test("hold for their topic, or for all", () => {
    decide("a", "full");
    expect([find("a"), find("b")]).toEqual(["full", undefined]);
    decide(undefined, "responder", "bob");
    expect([find("a", "bob"), find("b", "bob")]).toEqual(["responder", "responder"]);
  });

  test("are replaced by newer ones, whatever the clock says", () => {
    levelDecisions.decide("alice", "a", "full", "admin", 2_000);
    levelDecisions.decide("alice", "a", "restricted", "admin", 1_000);
    expect(find("a")).toBe("restricted");
    decide(undefined, "full");
    expect(find("a")).toBe("full");
    decide("a", "none");
    expect([find("a"), find("b")]).toEqual(["none", "full"]);
    decide(undefined, "responder");
    expect([find("a"), find("b")]).toEqual(["responder", "responder"]);
  });

  test("leave one row for each scope, and are read by whoever opens the store next", () => {
    for (let i = 0; i < 5; i += 1) decide("a", levels[i % 3] as Level);
    decide("b", "none");
    expect(db.prepare("SELECT count(*) AS n FROM level_decisions").get()?.n).toBe(2);
    const other = openDatabase(join(folder, "state.db"), {
      component: "gateway",
      migrations: gatewayMigrations,
    });
    expect(new LevelDecisions(other).find("alice", "b")).toBe("none");
    other.close();
  });
});
