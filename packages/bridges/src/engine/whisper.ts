// A private word to one person, and not the same one all the time. Where the platform does not take it now, it is told
// later: a person whose message was refused has to be told. No other work waits for that.
import { PlatformError, type PlatformUser } from "../platform.ts";
import type { BridgeCore } from "./bridge-core.ts";
import { sleep } from "./sleep.ts";

const againMs = 60_000;
const toldMax = 1_000;
const retry = { minMs: 1_000, maxMs: 60_000, triesMax: 8 };

export async function whisper(
  core: BridgeCore,
  user: PlatformUser,
  channel: string | undefined,
  text: string,
): Promise<void> {
  const key = `${user.key}\n${text}`;
  const at = core.told.get(key);
  if (at !== undefined && core.now() - at < againMs) return;
  if (core.told.size >= toldMax) core.told.clear();
  core.told.set(key, core.now());
  const tell = () => core.options.platform.whisper(user, channel, text);
  try {
    await tell();
  } catch (error) {
    void tellLater(core, tell, error);
  }
}

async function tellLater(core: BridgeCore, tell: () => Promise<void>, first: unknown): Promise<void> {
  const { log, name } = core.options;
  let fault = first;
  for (let attempt = 0; attempt < retry.triesMax; attempt += 1) {
    if (!(fault instanceof PlatformError) || fault.fault === "refused") break;
    const ms = fault.retryAfterMs ?? retry.minMs * 2 ** attempt;
    try {
      await sleep(Math.min(ms, retry.maxMs), core.signal);
      return await tell();
    } catch (error) {
      if (core.signal.aborted) return;
      fault = error;
    }
  }
  log.warn({ bridge: name, err: fault }, "could not deliver a private message");
}
