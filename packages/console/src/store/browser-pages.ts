// The pages of this browser among themselves: one of them has a lock at a time, and all are in one channel.
import type { Pages } from "./live-gates.ts";

const name = "mcpx-console-gates";

/** `undefined` where the browser lets pages find each other only over HTTPS or on this machine. */
export function browserPages(): Pages | undefined {
  if (!("locks" in navigator) || !("BroadcastChannel" in globalThis)) return undefined;
  const channel = new BroadcastChannel(name);
  return {
    alone: async (work, signal) => void (await navigator.locks.request(name, { signal }, work)),
    tell: (message) => channel.postMessage(message),
    hear(run, signal) {
      channel.addEventListener("message", ({ data }) => run(data), { signal });
    },
  };
}
