// What was said in a channel while nobody listened, in order and once: after the newest message that was handled.
import { type LeftOut, type MissedPage, PlatformError } from "../platform.ts";
import type { BridgeCore, Channel } from "./bridge-core.ts";
import { hearSaid } from "./hear-said.ts";
import { saidId } from "./said-id.ts";
import { sleep } from "./sleep.ts";

const retry = { minMs: 1_000, maxMs: 30_000, triesMax: 8 };

/** Where the platform cannot tell, what was missed is missing, which is logged: what is said now does not wait for ever. */
export async function catchUp(core: BridgeCore, channel: Channel): Promise<void> {
  const { id } = channel;
  const { store, name, platform, log } = core.options;
  if (platform.missed === undefined || core.signal.aborted) return;
  try {
    for (;;) {
      const since = await store.heard(name, id);
      const { said, at, isMore, leftOut } = await page(core, id, since);
      if (leftOut !== undefined) await tellLeftOut(core, channel, since, leftOut);
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

/**
 * In the bridge's own name, so that the room and the channel are told alike; once, also where the bridge ends before the
 * place is kept.
 */
async function tellLeftOut(
  { options }: BridgeCore,
  { id: channel, followed }: Channel,
  since: string | undefined,
  { count, isUncounted }: LeftOut,
): Promise<void> {
  const { name, secret, log } = options;
  log.warn(
    { bridge: name, channel, count, isUncounted },
    "did not copy all messages that were said while away",
  );
  const number = `${isUncounted ? "More than " : ""}${count}`;
  const are = count === 1 ? "message of the channel was" : "messages of the channel were";
  const text = `${number} ${are} not copied into the room: the bridge was away, and brings the newest only`;
  const id = saidId(secret, { bridge: name, channel, participant: "left out" }, `${channel} ${since}`);
  await followed?.room.publish({ id, kind: "chat", payload: { text, format: "plain" } }).catch((error) => {
    log.warn({ bridge: name, channel, err: error }, "could not tell a room which messages it lacks");
  });
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
