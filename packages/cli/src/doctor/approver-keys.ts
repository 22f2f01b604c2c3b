// Who approves, and whether a program alone could do so in their name.
import { readApprovers } from "../access/approvers.ts";
import { weakApprovers } from "../access/weak-approvers.ts";
import { type Check, ok, plural, warning } from "./finding.ts";

const about = "keys";

export const approverKeys: Check = {
  name: about,
  async run({ dataDir, env }) {
    const { keys, faults } = await readApprovers({ dataDir, env });
    const weak = weakApprovers(dataDir, keys, "mcpx");
    const found = [
      ...faults.map((text) =>
        warning(about, `ignoring an invalid approver: ${text}`, "correct or remove it"),
      ),
      ...weak.map(({ fault, fix }) => warning(about, fault, fix)),
    ];
    if (found.length > 0) return found;
    if (keys.length === 0) {
      return [ok(about, "nobody can approve yet", "register a passkey at the console: mcpx console")];
    }
    return [ok(about, `${plural(keys.length, "approver")}, none with a plain key file`)];
  },
};
