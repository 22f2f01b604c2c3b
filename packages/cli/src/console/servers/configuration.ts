// The configuration file as the running gateway reads it, for those who change it at the console.
import { existsSync } from "node:fs";
import type { LoadedConfig } from "../../config/config.ts";
import { type ConfigPlaces, configPlaces } from "../../config/find-config.ts";
import { type ConfigFile, openConfig } from "../../config-edit/edit-config.ts";
import { secretsOfFile } from "../../settings/reload-config.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigurationOptions {
  env: Environment;
  /** The file that was read when the gateway began, or that it was told to read; else where one may come to be. */
  places: ConfigPlaces;
  /** Throws where the gateway would refuse it. */
  check(loaded: LoadedConfig): void;
  /** Reads the file again, now. */
  reload(): void;
}

export interface Configuration extends Pick<ConfigurationOptions, "env" | "check"> {
  cwd: string;
  /** Where there is none yet, it says where it would be. */
  open(): ConfigFile;
  /** The file was written: the gateway takes it over. */
  written(path: string): void;
  /** What must not be shown of the file, also where it is wrong. */
  secrets(): string[];
}

export function createConfiguration(options: ConfigurationOptions): Configuration {
  const { env, check, reload } = options;
  let { places } = options;
  const { cwd, dataDir } = places;
  return {
    env,
    cwd,
    check,
    open: () =>
      openConfig({ env, cwd, options: { config: places.given, data: dataDir }, trusted: places.trusted }),
    written(path) {
      // Once there is one it stays the one, as it does for the gateway.
      if (places.trusted === undefined) places = { ...places, given: path };
      reload();
    },
    secrets: () => secretsOfFile(configPlaces(places).find((place) => existsSync(place))),
  };
}
