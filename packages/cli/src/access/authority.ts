// The chain of approvers of a data directory, opened by a command or before the gateway starts; and the configuration
// as far as an approver has signed it. [B-KEY-2]
import {
  type AuthorityChange,
  ChainFault,
  changesBetween,
  type KeptChain,
  openChain,
} from "@mcpx/aggregator";
import { systemClock } from "@mcpx/host";
import type { LoadedConfig } from "../config/config.ts";
import { type LocalStore, localUser, withStore } from "../files/local-store.ts";
import { type Home, readStatePlace } from "../files/state-place.ts";
import { Failure } from "../framework/failure.ts";
import { authorityOf, withoutHeld } from "../settings/gate-authority.ts";
import { configDir } from "../settings/tree-settings.ts";

export interface ChainStore extends LocalStore {
  chain: KeptChain;
  aggregatorId: string;
}

/** Opens the chain for one piece of work. */
export function withChain<T>(
  home: Home,
  options: { mayCreate?: boolean },
  work: (store: ChainStore) => T | Promise<T>,
): Promise<T> {
  return withStore(home, options, async (store) => {
    const tree = await store.tree();
    const aggregatorId = await tree.facts.aggregatorId();
    const parts = { aggregatorId, clock: systemClock, audit: store.audit, actor: `cli:${localUser()}` };
    const chain = await orFailure(home.dataDir, () => openChain({ ...parts, store: tree.chain }));
    return await work({ ...store, chain, aggregatorId });
  });
}

/** A chain that is not valid stops everything that rests on it. */
export async function orFailure<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error;
    const what =
      readStatePlace(dataDir) === undefined ? `${dataDir}/state.db` : "rows of authority_chain in PostgreSQL";
    const fix = `somebody has changed ${what}: restore a backup (docs/GATES.md, "The chain of approvers")`;
    throw new Failure(error.message, fix);
  }
}

export interface HeldConfig {
  /** The configuration without the changes that wait for a signature. */
  loaded: LoadedConfig;
  held: readonly AuthorityChange[];
}

/** What needs no signature counts, and is written down; the rest is as it was signed last. */
export async function holdConfig(chain: KeptChain, loaded: LoadedConfig): Promise<HeldConfig> {
  // Nothing is configured: what was signed for a configuration stays.
  if (loaded.path === undefined) return { loaded, held: [] };
  const wanted = authorityOf(loaded.config, configDir(loaded));
  const held = await chain.settle((state) => {
    const signed = [...state].filter(([key]) => !/^(approver\/|bridge\/|panic$)/.test(key));
    return changesBetween(new Map(signed), wanted);
  });
  if (held.length === 0) return { loaded, held };
  return { loaded: { ...loaded, config: withoutHeld(loaded.config, held, chain.now().state) }, held };
}
