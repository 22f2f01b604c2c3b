// Ctrl-C, SIGTERM and the like, as one AbortSignal for commands that can end cleanly.
import { constants } from "node:os";

/** Launchers and terminals may both pass on one and the same Ctrl-C. */
const sameMs = 200;

/** Signals are listened to from the first call on; before, they end the process as usual. */
export function createInterruption(): (hungUp?: () => void) => AbortSignal {
  let controller: AbortController | undefined;
  return (hungUp) => {
    if (controller !== undefined) return controller.signal;
    const started = new AbortController();
    controller = started;
    let firstAt: number | undefined;
    const interrupt = (exitCode: number) => {
      if (firstAt !== undefined && performance.now() - firstAt > sameMs) process.exit(exitCode);
      firstAt ??= performance.now();
      started.abort();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      const end = () => interrupt(128 + constants.signals[signal]);
      process.on(signal, signal === "SIGHUP" ? (hungUp ?? end) : end);
    }
    // Started by our own launcher, which was killed.
    if (process.connected) {
      process.on("disconnect", () => interrupt(1));
      process.channel?.unref();
    }
    return started.signal;
  };
}
