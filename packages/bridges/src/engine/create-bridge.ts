// Puts a bridge together: a platform, its channels and their rooms; and takes it apart again.
import { setTimeout as wait } from "node:timers/promises";
import { followRoom } from "../rooms/follow-room.ts";
import { createRoomConnections } from "../rooms/room-connections.ts";
import type { BridgeCore, BridgeOptions, Channel } from "./bridge-core.ts";
import { carry } from "./carry.ts";
import { createHearing } from "./hearing.ts";
import { createPace } from "./pace.ts";

export interface ChannelFacts {
  channel: string;
  room: string;
  /** How many envelopes of the room have not been looked at yet. */
  behind: number;
  fault: string | undefined;
}

export interface Bridge {
  readonly name: string;
  facts(): { state: "starting" | "up" | "down"; fault: string | undefined; channels: ChannelFacts[] };
  /** Resolves when the platform was reached and every room joined for the first time. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

const retryMs = { min: 1_000, max: 60_000 };
const forgetMs = 7 * 86_400_000;

/** It starts at once, and tries again where the platform cannot be reached. */
export function createBridge(options: BridgeOptions): Bridge {
  const { name, platform, log, now = Date.now } = options;
  const ending = new AbortController();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  let state: "starting" | "up" | "down" = "starting";
  let fault: string | undefined;
  let isReady = false;
  const bells = new Map<string, () => void>();
  const channels = new Map(
    [...options.channels].map(([id, topic]): [string, Channel] => [
      id,
      {
        id,
        topic,
        pace: createPace(platform.can.pace, performance.now()),
        followed: undefined,
        stale: new Set(),
        wake: () => bells.get(id)?.(),
        fault: undefined,
        carried: 0,
      },
    ]),
  );
  const core: BridgeCore = {
    options,
    channels,
    roomConnections: createRoomConnections(options.rooms),
    signal: ending.signal,
    told: new Map(),
    guesses: new Map(),
    now,
  };
  const hearing = createHearing(core);
  const events = {
    said: hearing.said,
    pressed: hearing.pressed,
    failed: (error: unknown) => log.warn({ bridge: name, err: error }, "could not receive from a platform"),
    lost: (error: unknown) => {
      if (state === "up") state = "down";
      fault = error instanceof Error ? error.message : String(error);
      log.warn({ bridge: name, err: error }, "lost the connection to a platform; trying again");
    },
    found: () => {
      if (isReady) state = "up";
      fault = undefined;
      hearing.again();
    },
  };

  const run = async () => {
    await options.store.forget(now() - forgetMs);
    await again(
      core,
      () => platform.start(events),
      (why) => {
        state = "down";
        fault = why;
      },
    );
    const retried = <T>(channel: Channel, work: () => Promise<T>) =>
      again(core, work, (why) => {
        channel.fault = why;
      });
    const all = [...channels.values()];
    await Promise.all(all.map((channel) => retried(channel, () => openChannel(core, channel))));
    // A room that cannot be read now, or a store that does not answer, is tried again from where it was.
    const loops = all.map((channel) => {
      const news = () => new Promise<void>((resolve) => bells.set(channel.id, resolve));
      return retried(channel, () => carry(core, channel, news));
    });
    isReady = true;
    state = "up";
    fault = undefined;
    hearing.open();
    ready.resolve();
    await Promise.all(loops);
  };
  const running = run().catch((error: unknown) => {
    ready.reject(error);
    if (ending.signal.aborted) return;
    state = "down";
    fault = String(error);
    log.warn({ bridge: name, err: error }, "bridge ended");
  });

  return {
    name,
    ready: ready.promise,
    facts: () => ({
      state,
      fault,
      channels: [...channels.values()].map(({ id, topic, followed, carried, fault: wrong }) => ({
        channel: id,
        room: topic,
        behind: Math.max(0, (followed?.latest ?? 0) - carried),
        fault: wrong,
      })),
    }),
    async close() {
      ending.abort(new Error("the bridge is closed"));
      for (const ring of bells.values()) ring();
      await running;
      await hearing.close();
      core.roomConnections.close();
      await Promise.allSettled([...channels.values()].map(({ followed }) => followed?.close()));
      await platform.close();
    },
  };
}

/** The room joined, its proposals followed from the oldest open card on, and the cards checked against them. */
async function openChannel({ options, now }: BridgeCore, channel: Channel): Promise<void> {
  const { store, name, rooms } = options;
  const cards = await store.openCards(name, channel.id);
  const stored = await store.position(name, channel.id);
  const oldest = Math.min(...cards.map(({ seq }) => seq - 1));
  channel.followed = await followRoom({
    join: () => rooms.join(channel.topic),
    scout: () => rooms.scout(channel.topic),
    // A store of another epoch has none of the bridge's positions: everything begins anew.
    since: ({ epoch, seq }) =>
      stored?.epoch === epoch ? Math.max(0, Math.min(oldest, stored.seq, seq)) : seq,
    onNews: channel.wake,
    onChange: ({ id }) => {
      channel.stale.add(id);
      channel.wake();
    },
    now,
  });
  const { followed } = channel;
  channel.carried =
    stored?.epoch === followed.epoch ? Math.min(stored.seq, followed.latest) : followed.latest;
  if (stored === undefined) {
    await store.setPosition(name, channel.id, { epoch: followed.epoch, seq: channel.carried });
  }
  for (const card of cards) {
    channel.stale.add(card.proposal);
    // The person who was approving did not get there: the room says that it still waits.
    const isPending = followed.proposal(card.proposal)?.status === "pending";
    if (card.claimedBy !== undefined && isPending) await store.release(card.id);
  }
}

/** Tries again until the attempt succeeds or the bridge is closed. */
async function again<T>(
  { signal, options }: BridgeCore,
  work: () => Promise<T>,
  onFault: (why: string) => void,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      onFault(error instanceof Error ? error.message : String(error));
      const ms = Math.min(retryMs.min * 2 ** attempt, retryMs.max);
      options.log.warn(
        { bridge: options.name, err: error, afterMs: ms },
        "a bridge does not work; trying again",
      );
      await wait(ms, undefined, { signal });
    }
  }
}
