// From the configuration to the bridges.
import type { Platform } from "@mcpx/bridges";

export interface BridgeSettings {
  name: string;
  /** The platform's word. */
  kind: string;
  /** Which room each channel carries. */
  channels: ReadonlyMap<string, string>;
  unlinked: "read" | "guest";
  /** Nothing is reached yet. */
  open(): Platform;
}
