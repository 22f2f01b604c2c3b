// The configuration while the gateway runs: its file is watched and read again, what is good is taken over, and what
// makes gates weaker waits for an approver's signature.
import { sentencesOf } from "@mcpx/aggregator";
import type { Logger } from "@mcpx/host";
import { type HeldConfig, holdConfig } from "../access/authority.ts";
import { type LoadedConfig, loadConfig } from "../config/config.ts";
import { type ConfigPlaces, watchedPlaces } from "../config/find-config.ts";
import type { SecretCommands } from "../files/secret-commands.ts";
import { createReload } from "../settings/reload-config.ts";
import type { ServerSettings } from "../settings/server-settings.ts";
import type { StartedGateway } from "./start-gateway.ts";
import { type ContentOf, watchConfig } from "./watch-config.ts";

export interface FollowOptions extends HeldConfig {
  settings: ServerSettings;
  places: ConfigPlaces;
  /** What stood in those places when the configuration was read. */
  seen: ContentOf;
  /** Throws where the gateway could not run with it. */
  settingsOf(loaded: LoadedConfig): ServerSettings;
  /** Runs the programs that print its secrets. */
  prepare: SecretCommands["prepare"];
  gateway: Pick<StartedGateway, "change" | "authority">;
  /** What to say of a file that has changed since it was accepted. */
  waiting(path: string): string;
  log: Logger;
}

export interface FollowedConfig {
  /** Reads the file again, now. */
  reload(): void;
  close(): void;
}

export function followConfig(options: FollowOptions): FollowedConfig {
  const { loaded, held, settings, places, seen, settingsOf, prepare, gateway, waiting, log } = options;
  const { chain } = gateway.authority;
  const wait = (changes: HeldConfig["held"]) => waitFor(gateway.authority, changes, log);
  wait(held);
  const read = async (last: LoadedConfig) => {
    const again = loadConfig(placesOf(last, places));
    settingsOf(again);
    const now = await holdConfig(chain, again);
    wait(now.held);
    await prepare(now.loaded.config);
    return { loaded: now.loaded, settings: settingsOf(now.loaded) };
  };
  const { change, authority } = gateway;
  const readAgain = createReload(
    { loaded, settings },
    { read, waiting, change, judgeBy: authority.judgeBy, log },
  );
  // What commands have appended to the chain counts first. Where that is not valid, the gateway says so by itself.
  const reload = () => void chain.refresh().then(readAgain, readAgain);
  gateway.authority.onSigned = reload;
  if (loaded.path !== undefined && loaded.accepted === "waiting") {
    log.warn({ config: loaded.path }, waiting(loaded.path));
  }
  const paths = watchedPlaces(placesOf(loaded, places));
  const { close } = watchConfig({ paths, seen, changed: reload, log });
  return { reload, close };
}

/** Once there is a configuration it stays the one; one that was accepted counts only as it was accepted. */
export function placesOf({ path, accepted }: LoadedConfig, places: ConfigPlaces): ConfigPlaces {
  if (path === undefined) return places;
  return accepted === undefined ? { ...places, given: path } : { ...places, trusted: path };
}

/** What the configuration wants and an approver has to sign is told, and shown as cards. */
function waitFor(
  { cards, chain }: StartedGateway["authority"],
  changes: HeldConfig["held"],
  log: Logger,
): void {
  for (const change of sentencesOf(chain.now().state, changes)) {
    log.warn({ change }, "the configuration waits for an approver's signature (mcpx pending)");
  }
  cards
    .want("config", changes)
    .catch((error) => log.error({ err: error }, "could not show changes that wait for a signature"));
}
