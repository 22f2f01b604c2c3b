// [X1-8-2] Who has no level of their own: restricted in mode `mixed`, refused in mode `secure`. And which rights of the
// levels are not the built-in ones. [PL-4-1]

import { LevelDecisions } from "@mcpx/gateway";
import type { IssuedToken } from "@mcpx/host";
import { type AssignableRight, builtInRight, type Level } from "@mcpx/protocol";
import { isOwnName } from "../access/own-tokens.ts";
import type { Config } from "../config/config.ts";
import { withStore } from "../files/local-store.ts";
import { Failure } from "../framework/failure.ts";
import { type Check, type Finding, ok, plural, some, warning } from "./finding.ts";

const about = "levels";
const tokensMax = 10_000;

export const levels: Check = {
  name: about,
  async run({ dataDir, env, hasStore, loaded }) {
    if (loaded instanceof Failure) return [];
    const rights = assignedRights(loaded.config);
    if (!hasStore) return rights;
    const { config } = loaded;
    return await withStore({ dataDir, env }, {}, async ({ identity, rooms }) => {
      const tokens = await identity.revocations.list({ limit: tokensMax });
      const decisions = await LevelDecisions.open((await rooms()).decisions);
      const isDecided = (id: string, topic: string) => decisions.find(id, topic) !== undefined;
      return [...rights, ...judgeLevels(config, tokens, isDecided, Date.now())];
    });
  },
};

/** What `levels` of the configuration changes, in one line. */
export function assignedRights({ levels: assigned = {} }: Pick<Config, "levels">): Finding[] {
  const changed = Object.entries(assigned).flatMap(([level, rights]) =>
    Object.entries(rights)
      .filter(([right, word]) => word !== builtInRight(level as Level, right as AssignableRight))
      .map(([right, word]) => `${level} ${right}: ${word}`),
  );
  return changed.length === 0 ? [] : [ok(about, `assigned by the configuration: ${changed.join(", ")}`)];
}

export function judgeLevels(
  { mode = "mixed", identities = {} }: Config,
  tokens: readonly IssuedToken[],
  isDecided: (id: string, topic: string) => boolean,
  now: number,
): Finding[] {
  const without = tokens.flatMap(({ sub, claims, expiresAt, revokedAt }) => {
    const topics = Array.isArray(claims.topics) ? claims.topics.map(String) : [];
    if (sub === undefined || isOwnName(sub)) return [];
    if (topics.length === 0 || expiresAt <= now || revokedAt !== undefined) return [];
    const hasLevel =
      claims.level !== undefined ||
      Object.hasOwn(identities, sub) ||
      topics.every((topic) => isDecided(sub, topic));
    return hasLevel ? [] : [sub];
  });
  const ids = [...new Set(without)].sort();
  if (ids.length === 0) return [];
  const [first = "ID"] = ids;
  const who = `${plural(ids.length, "participant")} without a level: ${some(ids, 20)}`;
  const fix = `"identities": { "${first}": { "level": "full" } } in mcpx.json, or mcpx token --id ${first} --level full`;
  if (mode === "open")
    return [ok(about, `in mode mixed these would be restricted, in mode secure refused; ${who}`, fix)];
  const fate =
    mode === "secure" ? "refused, since the mode is secure" : "restricted: they may talk and propose only";
  return [warning(about, `${who}; they are ${fate}`, fix)];
}
