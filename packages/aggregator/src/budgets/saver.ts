// Saves a little later, once for all that has changed until then.
import type { Logger } from "@mcpx/host";

export interface Saver {
  /** At most a second from now, or after what is being saved. */
  soon(): void;
  /** At once, for the last time. */
  close(): Promise<void>;
}

const saveMs = 1_000;

/** `save` keeps what it could not write: it is called again a second later. It is never called while it is under way. */
export function createSaver(save: () => Promise<void>, log: Logger): Saver {
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> | undefined;
  let isWantedAgain = false;
  let isFailing = false;
  let closing: Promise<void> | undefined;

  function soon(): void {
    if (closing !== undefined) return;
    if (saving !== undefined) isWantedAgain = true;
    else timer ??= setTimeout(begin, saveMs).unref();
  }

  function begin(): void {
    timer = undefined;
    saving = attempt().then(() => {
      saving = undefined;
      if (isWantedAgain) soon();
      isWantedAgain = false;
    });
  }

  async function attempt(): Promise<void> {
    try {
      await save();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error({ err: error }, "could not write budget usage");
      isFailing = true;
      isWantedAgain = true;
    }
  }

  async function finish(): Promise<void> {
    clearTimeout(timer);
    await saving;
    await save();
  }

  return {
    soon,
    close() {
      closing ??= finish();
      return closing;
    },
  };
}
