// Where the configuration wants a gateway's state to be.
import type { LoadedConfig } from "../config/config.ts";
import type { StoreWish } from "../files/state-place.ts";
import { configDir } from "./tree-settings.ts";

/** `undefined`: in the files of the data directory. */
export function storeWish(loaded: LoadedConfig): StoreWish | undefined {
  const { store: address, storeKey: key } = loaded.config;
  return address === undefined ? undefined : { address, ...(key && { key }), dir: configDir(loaded) };
}
