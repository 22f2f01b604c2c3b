// The engine's end of a platform, where no engine is: everything is heard, and nothing is done about it.
import type { PlatformEvents } from "@mcpx/bridges";

export const nobody: PlatformEvents = {
  said: async () => {},
  pressed: async () => {},
  failed: () => {},
  lost: () => {},
  found: () => {},
};
