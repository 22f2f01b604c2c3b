// The key tokens are signed with.
import { withStore } from "../files/local-store.ts";
import { type Check, fault, ok, plural } from "./finding.ts";

const about = "signing key";

export const signingKey: Check = {
  name: about,
  async run({ dataDir, env, hasStore }) {
    if (!hasStore) return [ok(about, "it is made by the first start", "mcpx up")];
    try {
      const { keys } = await withStore({ dataDir, env }, {}, ({ identity }) => identity.keys.jwks());
      return [ok(about, `${plural(keys.length, "key")} that tokens are verified with`)];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [
        fault(
          about,
          `the keys in ${dataDir} cannot be read: ${why}`,
          "restore a backup: cp -r BACKUP NEW && mcpx up --data NEW",
        ),
      ];
    }
  },
};
