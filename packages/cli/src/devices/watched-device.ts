// What goes over the line of a configured device, for people who look on: the last frames of both directions, read only
// while somebody asks for them. The device keeps its line to itself.
import { type OpenLine, type SeenFrame, watchFrames } from "@mcpx/devices";
import type { Clock } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import type { DeviceSettings } from "../settings/device-settings.ts";

export interface WatchedDevice {
  openLine: OpenLine;
  /** Frames after this number; without a number none, and reading begins. */
  frames(after: number | undefined): JsonObject;
}

type From = "device" | "gateway";

const framesMax = 200;
const textCharsMax = 500;
const bytesMax = 128;
/** Frames are read for this long after the last request for them. */
const watchedMs = 10_000;

export function watchDevice(
  { openLine, config }: Pick<DeviceSettings, "openLine" | "config">,
  clock: Clock,
): WatchedDevice {
  const kept: JsonObject[] = [];
  let last = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  let readers: Record<From, (bytes: Uint8Array) => void> | undefined;

  const keep =
    (from: From) =>
    ({ text, bytes, isRead }: SeenFrame) => {
      last += 1;
      const shown = Buffer.from(bytes.subarray(0, bytesMax)).toString("hex");
      const at = new Date(clock.now()).toISOString();
      kept.push({ number: last, at, from, read: isRead, text: text.slice(0, textCharsMax), bytes: shown });
      if (kept.length > framesMax) kept.shift();
    };
  const look = (from: From, bytes: Uint8Array) => {
    if (clock.monotonic() - askedAt > watchedMs) {
      readers = undefined;
      return;
    }
    readers ??= {
      device: watchFrames(config, keep("device")),
      gateway: watchFrames(config, keep("gateway")),
    };
    readers[from](bytes);
  };
  return {
    openLine: async (taker) => {
      const line = await openLine({
        ...taker,
        bytes(bytes) {
          look("device", bytes);
          taker.bytes(bytes);
        },
      });
      // What was half read of the line before is over.
      readers = undefined;
      return {
        ...line,
        write(bytes, isAwaited) {
          const isSent = line.write(bytes, isAwaited);
          if (isSent) look("gateway", bytes);
          return isSent;
        },
      };
    },
    frames(after = last) {
      askedAt = clock.monotonic();
      const frames = kept.filter(({ number }) => Number(number) > after);
      return { frames, last };
    },
  };
}
