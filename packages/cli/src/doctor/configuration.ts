// The configuration file: whether it can be used, what it leaves open, and who may read it.
import { statSync } from "node:fs";
import { notAcceptedReason, trustCommand, waitingText } from "../config/trust-words.ts";
import { shownSecrets } from "../config-edit/edit-config.ts";
import { Failure } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";
import { configDir, treeSettings } from "../settings/tree-settings.ts";
import { type Check, type Finding, fault, ok, warning } from "./finding.ts";
import { missingReferences } from "./references.ts";

const about = "configuration";

export const configuration: Check = {
  name: about,
  run({ loaded, env, dataDir }) {
    // This failure's own text says what to do.
    if (loaded instanceof Failure && loaded.reason === notAcceptedReason)
      return [fault(about, loaded.message)];
    if (loaded instanceof Failure) {
      const [first = loaded.message, ...others] =
        loaded.details.length > 0 ? loaded.details : [loaded.message];
      return [first, ...others].map((text) =>
        fault(about, text, "correct it there, or restore a backup that is in the same directory"),
      );
    }
    const { path, config } = loaded;
    if (path === undefined)
      return [ok(about, "there is no configuration file; all defaults apply", "mcpx add NAME -- COMMAND")];
    const dir = configDir(loaded);
    const found: Finding[] = [];
    if (loaded.accepted === "waiting")
      found.push(warning(about, waitingText(path, dataDir), trustCommand(path, dataDir)));
    try {
      treeSettings(config, { dir, env });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      found.push(fault(about, error.message));
    }
    for (const [name, server] of Object.entries(config.mcpServers ?? {})) {
      if (server.disabled === true) continue;
      for (const missing of missingReferences(server, { dir, env })) {
        const isVariable = missing.kind === "env";
        const what = isVariable
          ? `the environment variable ${missing.name} is not set`
          : `${missing.name} cannot be read`;
        const fix = isVariable
          ? `export ${missing.name}=… where mcpx up is started`
          : `write the secret into ${missing.name}`;
        found.push(fault(about, `${name}: ${what}`, fix));
      }
    }
    const isOpen = (statSync(path).mode & 0o044) !== 0;
    if (isOpen && shownSecrets(config).length > 0)
      found.push(warning(about, `others may read the secrets in ${path}`, `chmod 600 ${shellWord(path)}`));
    return found.length > 0 ? found : [ok(about, path)];
  },
};
