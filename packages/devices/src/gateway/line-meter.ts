// What one line may bring: so many bytes a second, and not only noise. Pure: the time is given. [AX-10.4-1]
import type { Limits } from "@mcpx/protocol";

export type LineLimits = Pick<Limits, "deviceLineBytesPerSecond" | "deviceNoiseBytesMax">;

/** The quarter of a second that may come at once. */
const burstShare = 0.25;
/** What an echo, or a line without a device, may bring for ever. */
const noiseBytesPerSecond = 2_048;

export interface LineMeter {
  /** So many bytes came: for how long nothing more is to be read, 0 where more may come at once. */
  charge(bytes: number, nowMs: number): number;
  /** So many of them are read now. */
  reads(bytes: number, nowMs: number): void;
  /** Whether too much has come of which nothing could be read. */
  isNoise(): boolean;
  /** Something could be read. */
  heard(): void;
}

export function createLineMeter(
  { deviceLineBytesPerSecond: bytesPerSecond, deviceNoiseBytesMax }: LineLimits,
  openedMs: number,
): LineMeter {
  const burstBytes = bytesPerSecond * burstShare;
  let spareBytes = burstBytes;
  let noiseBytes = 0;
  let atMs = openedMs;
  let readAtMs = openedMs;
  return {
    charge: (bytes, nowMs) => {
      const seconds = Math.max(0, nowMs - atMs) / 1_000;
      atMs = nowMs;
      spareBytes = Math.min(burstBytes, spareBytes + seconds * bytesPerSecond) - bytes;
      return spareBytes >= 0 ? 0 : Math.ceil((-spareBytes / bytesPerSecond) * 1_000);
    },
    reads: (bytes, nowMs) => {
      const seconds = Math.max(0, nowMs - readAtMs) / 1_000;
      readAtMs = nowMs;
      noiseBytes = Math.max(0, noiseBytes - seconds * noiseBytesPerSecond) + bytes;
    },
    isNoise: () => noiseBytes > deviceNoiseBytesMax,
    heard: () => {
      noiseBytes = 0;
    },
  };
}
