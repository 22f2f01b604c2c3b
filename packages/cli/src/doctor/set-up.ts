// How far a gate holds here against a program that runs as you: which set-up of docs/THREATS.md this is, and the one
// command to the next stronger one.
import { statSync } from "node:fs";
import { readApprovers } from "../access/approvers.ts";
import { weakApprovers } from "../access/weak-approvers.ts";
import { Failure } from "../framework/failure.ts";
import { serviceFacts } from "../service/facts.ts";
import { userIds } from "../service/steps.ts";
import { type Check, ok, warning } from "./finding.ts";

const about = "set-up";

export const setUp: Check = {
  name: about,
  async run({ dataDir, env, loaded }) {
    const { keys } = await readApprovers({ dataDir, env });
    const anchors = loaded instanceof Failure ? [] : (loaded.config.gates?.anchors ?? []);
    if (keys.length + anchors.length === 0) {
      return [
        ok(about, "nobody can approve: gated calls wait, and expire; next: mcpx console", "mcpx console"),
      ];
    }
    const [weak] = weakApprovers(dataDir, keys, "mcpx");
    if (weak !== undefined) {
      const text = `plain: every program that runs as you can approve as ${weak.name} (docs/THREATS.md)`;
      return [warning(about, text, weak.fix)];
    }
    const inBrowser = keys.find((key) => key.kind !== "passkey" && key.kept === "browser");
    if (inBrowser !== undefined) {
      const text = `plain: whatever controls a browser can approve as ${inBrowser.name} (docs/THREATS.md)`;
      return [warning(about, text, "register a passkey instead: mcpx console")];
    }
    if (isService(dataDir)) {
      return [ok(about, "own user: agents that run as others reach only its endpoint (docs/THREATS.md)")];
    }
    const text =
      "sealed: a program alone cannot use an approver's key nor enrol one of its own; one that runs as you can still replace everything here";
    const next = "sudo mcpx service install";
    return [ok(about, `${text} (docs/THREATS.md); next: ${next}`, next)];
  },
};

/** It is the service's own directory, and its user looks. */
function isService(dataDir: string): boolean {
  if (process.platform !== "linux" && process.platform !== "darwin") return false;
  const facts = serviceFacts({ user: undefined, root: undefined, platform: process.platform, program: [] });
  return dataDir === facts.dataDir && userIds(facts)?.uid === statSync(dataDir).uid;
}
