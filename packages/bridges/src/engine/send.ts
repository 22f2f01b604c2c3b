// One thing to a channel, in its pace, again until the platform has taken or refused it.
import { PlatformError } from "../platform.ts";
import type { BridgeCore, Channel } from "./bridge-core.ts";
import { holdOff, takeTurn } from "./pace.ts";
import { sleep } from "./sleep.ts";

const backoff = { minMs: 500, maxMs: 60_000 };
/** A platform that asks for more is asked again all the same. */
const retryAfterMsMax = 600_000;

/** Undefined where the platform will never take it. Rejects when the bridge is closed. */
export async function send<T>(
  core: BridgeCore,
  channel: Channel,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const { log, name } = core.options;
  for (let attempt = 0; ; attempt += 1) {
    await turn(core, channel);
    try {
      const result = await work();
      channel.fault = undefined;
      return result;
    } catch (error) {
      core.signal.throwIfAborted();
      const detail = { bridge: name, channel: channel.id, err: error };
      if (!(error instanceof PlatformError) || error.fault === "refused") {
        channel.fault = String(error);
        log.warn(detail, "platform refused a post; skipped it");
        return undefined;
      }
      channel.fault = error.message;
      const ms = Math.min(error.retryAfterMs ?? backoff.minMs * 2 ** attempt, retryAfterMsMax);
      const bounded = error.retryAfterMs === undefined ? Math.min(ms, backoff.maxMs) : ms;
      holdOff(channel.pace, performance.now(), bounded);
      log.debug({ ...detail, afterMs: bounded }, "could not post to a platform; trying again");
    }
  }
}

async function turn({ signal }: BridgeCore, { pace }: Channel): Promise<void> {
  for (let ms = takeTurn(pace, performance.now()); ms > 0; ms = takeTurn(pace, performance.now())) {
    await sleep(ms, signal);
  }
}
