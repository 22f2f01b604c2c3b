// Whether the chain of approvers holds, what in it nobody has signed and should be known, and what waits. [B-KEY-2]
import { changesBetween, sentencesOf } from "@mcpx/aggregator";
import { judgeApprovers } from "../access/approvers.ts";
import { withChain } from "../access/authority.ts";
import { Failure } from "../framework/failure.ts";
import { authorityOf } from "../settings/gate-authority.ts";
import { configDir } from "../settings/tree-settings.ts";
import { type Check, type Finding, fault, ok, warning } from "./finding.ts";

const about = "approvers";

export const approverChain: Check = {
  name: about,
  async run({ dataDir, env, hasStore, loaded }) {
    if (!hasStore) return [ok(about, "no chain yet")];
    try {
      const { chain, wanted } = await withChain({ dataDir, env }, {}, async ({ chain, approvers }) => ({
        chain: chain.now(),
        wanted: judgeApprovers(await (await approvers()).list()).state,
      }));
      const { entries, state } = chain;
      const isConfigured = !(loaded instanceof Failure) && loaded.path !== undefined && state.has("rules");
      const config = isConfigured ? authorityOf(loaded.config, configDir(loaded)) : new Map();
      const kinds = /^approver\//;
      const compared = new Map(
        [...state].filter(([key]) => kinds.test(key) || (isConfigured && key !== "panic")),
      );
      const waiting = sentencesOf(state, changesBetween(compared, new Map([...wanted, ...config])));
      const found: Finding[] = [
        ...entries
          .filter(({ kind }) => kind === "reset")
          .map(({ n, at }) =>
            warning(
              about,
              `all approvers were removed without a signature on ${at.slice(0, 10)} (entry ${n})`,
              "mcpx key log",
            ),
          ),
        ...waiting.map((sentence) =>
          warning(about, `not signed: ${sentence}`, "mcpx pending, or mcpx config sign"),
        ),
      ];
      const signed = entries.filter(({ kind }) => kind === "signed").length;
      return [
        ...found,
        ok(
          about,
          `the chain holds: ${entries.length === 1 ? "1 entry" : `${entries.length} entries`}, ${signed} signed`,
        ),
      ];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return [fault(about, error.message)];
    }
  },
};
