// What was said in a channel while nobody listened, in order and once: after the newest message that was handled.
import { type MissedPage, PlatformError } from "../platform.ts";
import type { BridgeCore, Channel } from "./bridge-core.ts";
import { hearSaid } from "./hear-said.ts";
import { sleep } from "./sleep.ts";

const retry = { minMs: 1_000, maxMs: 30_000, triesMax: 8 };

/** Where the platform cannot tell, what was missed is missing, which is logged: what is said now does not wait for ever. */
export async function catchUp(core: BridgeCore, { id }: Channel): Promise<void> {
  const { store, name, platform, log } = core.options;
  if (platform.missed === undefined || core.signal.aborted) return;
  try {
    for (;;) {
      const since = await store.heard(name, id);
      const { said, at, isMore } = await page(core, id, since);
      for (const one of said) {
        core.signal.throwIfAborted();
        await hearSaid(core, one);
        if (one.at !== undefined) await store.setHeard(name, id, one.at);
      }
      if (at !== undefined) await store.setHeard(name, id, at);
      if (!isMore || at === undefined || at === since) return;
    }
  } catch (error) {
    if (core.signal.aborted) return;
    log.warn({ bridge: name, channel: id, err: error }, "could not read what was said while away");
  }
}

async function page(core: BridgeCore, channel: string, since: string | undefined): Promise<MissedPage> {
  const { platform } = core.options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await platform.missed?.(channel, since)) ?? { said: [], at: undefined, isMore: false };
    } catch (error) {
      const isPassing = error instanceof PlatformError && error.fault !== "refused";
      if (!isPassing || attempt >= retry.triesMax) throw error;
      const ms = error.retryAfterMs ?? retry.minMs * 2 ** (attempt - 1);
      await sleep(Math.min(ms, retry.maxMs), core.signal);
    }
  }
}
