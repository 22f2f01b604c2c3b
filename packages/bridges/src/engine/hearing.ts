// From the platform to the rooms: a person's words keep their order, nobody waits for another person's, and what was said
// while the bridge was away comes first. Up to where a channel was heard is kept when all before it was handled.
import type { PlatformEvents, Press, Said } from "../platform.ts";
import type { BridgeCore } from "./bridge-core.ts";
import { catchUp } from "./catch-up.ts";
import { hearSaid } from "./hear-said.ts";
import { pressCard } from "./press-card.ts";

export interface Hearing {
  readonly said: PlatformEvents["said"];
  readonly pressed: PlatformEvents["pressed"];
  /** The rooms are joined: what has waited for that is handled. */
  open(): void;
  /** The platform is there again: what was missed is read before anything else. */
  again(): void;
  /** Nothing waits any more, and everything that came was handled. */
  close(): Promise<void>;
}

export function createHearing(core: BridgeCore): Hearing {
  const { name, store, log } = core.options;
  const opened = Promise.withResolvers<void>();
  /** By person. */
  const lines = new Map<string, Promise<void>>();
  /** By channel: up to here everything was handled. */
  const marks = new Map<string, Promise<void>>();
  /** By channel: the promise of reading what was missed. Each waits only for earlier ones, so none for itself. */
  const caughtUp = new Map<string, Promise<void>>();
  const waiting = new Set<string>();

  const inTurn = (all: Map<string, Promise<void>>, key: string, work: () => Promise<void>): Promise<void> => {
    const next = (all.get(key) ?? Promise.resolve()).then(work).catch((error: unknown) => {
      log.warn({ bridge: name, err: error }, "could not handle a message of a platform");
    });
    all.set(key, next);
    void next.then(() => all.get(key) === next && all.delete(key));
    return next;
  };
  const mark = ({ channel, at }: Said, handled: Promise<void>) => {
    if (channel === undefined || at === undefined || !core.channels.has(channel)) return;
    void inTurn(marks, channel, async () => {
      await handled;
      await store.setHeard(name, channel, at);
    });
  };
  const begin = () => {
    for (const channel of core.channels.values()) {
      // A catch-up that has not begun will read what this one would read.
      if (waiting.has(channel.id)) continue;
      waiting.add(channel.id);
      const done = inTurn(marks, channel.id, async () => {
        await opened.promise;
        waiting.delete(channel.id);
        await catchUp(core, channel);
      });
      caughtUp.set(channel.id, done);
    }
  };
  begin();

  return {
    said(said: Said) {
      const before = caughtUp.get(said.channel ?? "");
      const handled = inTurn(lines, said.user.key, async () => {
        // Private words need no room.
        if (said.channel !== undefined) await opened.promise;
        await before;
        await hearSaid(core, said);
      });
      mark(said, handled);
      return handled;
    },
    pressed: (press: Press) =>
      inTurn(lines, press.user.key, async () => {
        await opened.promise;
        await pressCard(core, press);
      }),
    open: opened.resolve,
    again: begin,
    async close() {
      opened.resolve();
      await Promise.allSettled(lines.values());
      await Promise.allSettled(marks.values());
    },
  };
}
