// How far a gate holds here against a program that runs as you: which set-up of docs/THREATS.md this is, and the one
// command to the next stronger one.
import { statSync } from "node:fs";
import { readApprovers } from "../access/approvers.ts";
import { weakApprovers } from "../access/weak-approvers.ts";
import { Failure } from "../framework/failure.ts";
import { type InstalledService, installedService } from "../service/installed-service.ts";
import { type Check, type Finding, ok, warning } from "./finding.ts";

const about = "set-up";

export const setUp: Check = {
  name: about,
  async run({ dataDir, env, loaded }) {
    const service = installedService();
    const beside = service === undefined || service.dataDir === dataDir ? [] : [fromOutside(service)];
    const { keys } = await readApprovers({ dataDir, env });
    const anchors = loaded instanceof Failure ? [] : (loaded.config.gates?.anchors ?? []);
    if (keys.length + anchors.length === 0) {
      // Of the service its own approvers decide; there may be nothing else here.
      if (beside.length > 0) return beside;
      return [
        ok(about, "nobody can approve: gated calls wait, and expire; next: mcpx console", "mcpx console"),
      ];
    }
    const [weak] = weakApprovers(dataDir, keys, "mcpx");
    if (weak !== undefined) {
      const text = `plain: every program that runs as you can approve as ${weak.name} (docs/THREATS.md)`;
      return [...beside, warning(about, text, weak.fix)];
    }
    const inBrowser = keys.find((key) => key.kind !== "passkey" && key.kept === "browser");
    if (inBrowser !== undefined) {
      const text = `plain: whatever controls a browser can approve as ${inBrowser.name} (docs/THREATS.md)`;
      return [...beside, warning(about, text, "register a passkey instead: mcpx console")];
    }
    if (service?.dataDir === dataDir && service.uid === statSync(dataDir).uid) {
      return [ok(about, "own user: agents that run as others reach only its endpoint (docs/THREATS.md)")];
    }
    const text =
      "sealed: a program alone cannot use an approver's key nor enrol one of its own; one that runs as you can still replace everything here";
    const next = "sudo mcpx service install";
    if (beside.length > 0) return [...beside, ok(about, `${text} (docs/THREATS.md)`)];
    return [ok(about, `${text} (docs/THREATS.md); next: ${next}`, next)];
  },
};

/** A gateway that runs here as a user of its own, as the other users of this machine see it. */
export function fromOutside({ user, dataDir, isReached, uid }: InstalledService): Finding {
  if (uid === undefined) {
    const fault = `the service of this machine runs as ${user}, and there is no such user`;
    return warning(about, fault, "sudo mcpx service install");
  }
  if (isReached) {
    const fault = `the gateway of this machine runs as ${user}, and you can reach ${dataDir}: a program that runs as you may, too (docs/THREATS.md)`;
    return warning(
      about,
      fault,
      "mcpx service status says what is open; sudo mcpx service install closes it",
    );
  }
  const next = `sudo -u ${user} mcpx doctor --data ${dataDir}`;
  const text = `own user: the gateway of this machine runs as ${user}; a program that runs as you can neither read nor write ${dataDir} (docs/THREATS.md). How its approvers keep their keys only ${user} can see`;
  return ok(about, `${text}: ${next}`, next);
}
