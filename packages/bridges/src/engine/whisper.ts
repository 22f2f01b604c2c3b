// A private word to one person, and not the same one all the time.
import type { PlatformUser } from "../platform.ts";
import type { BridgeCore } from "./bridge-core.ts";

const againMs = 60_000;
const toldMax = 1_000;

export async function whisper(
  core: BridgeCore,
  user: PlatformUser,
  channel: string | undefined,
  text: string,
): Promise<void> {
  const { platform, log, name } = core.options;
  const key = `${user.key}\n${text}`;
  const at = core.told.get(key);
  if (at !== undefined && core.now() - at < againMs) return;
  if (core.told.size >= toldMax) core.told.clear();
  core.told.set(key, core.now());
  try {
    await platform.whisper(user, channel, text);
  } catch (error) {
    log.debug({ bridge: name, err: error }, "could not deliver a private message");
  }
}
