// Saves a little later, once for all that has changed until then.
import type { Logger } from "@mcpx/host";

export interface Saver {
  /** At most a second from now. */
  soon(): void;
  /** At once, for the last time. */
  close(): void;
}

const saveMs = 1_000;

/** `save` keeps what it could not write: it is called again a second later. */
export function createSaver(save: () => void, log: Logger): Saver {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isFailing = false;

  function soon(): void {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      try {
        save();
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.error({ err: error }, "could not write budget usage");
        isFailing = true;
        soon();
      }
    }, saveMs).unref();
  }

  return {
    soon,
    close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      save();
    },
  };
}
