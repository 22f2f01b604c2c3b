// The configuration file as the running gateway reads it, for those who change it at the console.
import { existsSync } from "node:fs";
import { configPlaces, type LoadedConfig } from "../../config.ts";
import { type ConfigFile, openConfig } from "../../edit-config.ts";
import { secretsOfFile } from "../../reload-config.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigurationOptions {
  env: Environment;
  cwd: string;
  dataDir: string;
  /** The file that was read when the gateway began, or that it was told to read. */
  path: string | undefined;
  /** Throws where the gateway would refuse it. */
  check(loaded: LoadedConfig): void;
  /** Reads the file again, now. */
  reload(): void;
}

export interface Configuration extends Pick<ConfigurationOptions, "env" | "cwd" | "check"> {
  /** Where there is none yet, it says where it would be. */
  open(): ConfigFile;
  /** The file was written: the gateway takes it over. */
  written(path: string): void;
  /** What must not be shown of the file, also where it is wrong. */
  secrets(): string[];
}

export function createConfiguration(options: ConfigurationOptions): Configuration {
  const { env, cwd, dataDir, check, reload } = options;
  // Once there is one it stays the one, as it does for the gateway.
  let { path } = options;
  return {
    env,
    cwd,
    check,
    open: () => openConfig({ env, cwd, options: { config: path, data: dataDir } }),
    written(written) {
      path = written;
      reload();
    },
    secrets: () =>
      secretsOfFile(configPlaces({ given: path, cwd, dataDir }).find((place) => existsSync(place))),
  };
}
