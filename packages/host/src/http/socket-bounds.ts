// How many sockets the listener has: as many as the limits say, and no more than the process may have open. At the
// system's own limit nobody comes in any more, whoever it is; and stores, logs and children need some as well.
import { readFileSync } from "node:fs";
import type { Limits } from "@mcpx/protocol";

export interface SocketBounds {
  /** Sockets of all principals. */
  max: number;
  /** Connections on which no credential was found good yet; the oldest goes for the next one. */
  strangersMax: number;
  /** Connections of one principal. */
  perPrincipalMax: number;
}

/** Room for REST calls and unfinished handshakes beside a full house of WebSockets. */
const spareConnections = 2_000;
/** Of what the process may have open, for sockets of the listener. */
const socketsShare = 0.75;
const strangersShare = 1 / 7;
const perPrincipalShare = 2 / 7;

export function socketBounds(
  limits: Pick<Limits, "connectionsMax" | "strangerSocketsMax" | "socketsPerPrincipalMax">,
  openFilesMax: number = readOpenFilesMax(),
): SocketBounds {
  const max = Math.min(limits.connectionsMax + spareConnections, Math.floor(openFilesMax * socketsShare));
  const shared = (most: number, share: number) =>
    // Without a limit of the system, as it is configured.
    max === limits.connectionsMax + spareConnections ? most : Math.min(most, Math.ceil(max * share));
  return {
    max,
    strangersMax: shared(limits.strangerSocketsMax, strangersShare),
    perPrincipalMax: shared(limits.socketsPerPrincipalMax, perPrincipalShare),
  };
}

/** As Linux says it; elsewhere nobody can ask without starting a program. */
function readOpenFilesMax(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
