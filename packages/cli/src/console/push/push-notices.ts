// A buzz in the pocket: browsers that asked for it are told that something waits, also while no page of the console is
// open. No word of strangers is in it, and no argument: it may be read over a shoulder. [B-NOTIFY-1]
import { setTimeout as wait } from "node:timers/promises";
import { PlatformError, type PushDevice, type PushStore, sendPush } from "@mcpx/bridges";
import type { Clock, Logger } from "@mcpx/host";

export interface PushNotices {
  /** Something waits; `path` is where it is decided. What comes within a second is told once. */
  waits(path: string): void;
  close(): void;
}

export interface PushNoticesOptions {
  store: PushStore;
  clock: Clock;
  log: Pick<Logger, "warn">;
  /** `mailto:` or `https:`, for the people of push services. */
  contact: string;
  /** How long after what came first; tests are quicker. */
  gatherMs?: number;
  /** How long after each failure it is tried again. */
  pausesMs?: readonly number[];
}

const gatherDefaultMs = 1_000;
const pausesDefaultMs = [5_000, 30_000];
/** Devices that are notified at the same time. */
const atOnceMax = 8;

export function createPushNotices(options: PushNoticesOptions): PushNotices {
  const { store, log, gatherMs = gatherDefaultMs } = options;
  const closing = new AbortController();
  let paths: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function tell(): Promise<void> {
    timer = undefined;
    const text = noticeText(paths);
    paths = [];
    const devices = await store.list();
    for (let i = 0; i < devices.length && !closing.signal.aborted; i += atOnceMax) {
      await Promise.all(
        devices.slice(i, i + atOnceMax).map((device) => tellOne(options, device, text, closing.signal)),
      );
    }
  }

  return {
    waits(path) {
      paths.push(path);
      timer ??= setTimeout(() => {
        tell().catch((error) => log.warn({ err: error }, "could not notify devices"));
      }, gatherMs).unref();
    },
    close() {
      clearTimeout(timer);
      closing.abort();
    },
  };
}

/** Read by the service worker of the console. */
function noticeText(paths: readonly string[]): string {
  const [first = "/", ...others] = new Set(paths);
  const body = others.length === 0 ? "A call waits for you." : `${others.length + 1} calls wait for you.`;
  return JSON.stringify({ body, path: others.length === 0 ? first : "/" });
}

async function tellOne(
  { store, clock, log, contact, pausesMs = pausesDefaultMs }: PushNoticesOptions,
  device: PushDevice,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const pusher = { key: await store.key(), contact };
  const service = URL.parse(device.endpoint)?.host;
  for (const pauseMs of [...pausesMs, undefined]) {
    try {
      if (await sendPush(pusher, device, text, clock.now())) return;
      await store.remove(device.endpoint);
      log.warn({ device: device.name, service }, "device unsubscribed from notifications; removed it");
      return;
    } catch (error) {
      const isOver = pauseMs === undefined || !(error instanceof PlatformError) || error.fault === "refused";
      if (isOver) log.warn({ err: error, device: device.name, service }, "could not notify a device");
      if (isOver || signal.aborted) return;
      const retryMs = Math.max(pauseMs, error.retryAfterMs ?? 0);
      // Ended with the gateway, which is no fault.
      await wait(retryMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
}
