// Puts a bridge together: a platform, its channels and their rooms; and takes it apart again.
import { setTimeout as wait } from "node:timers/promises";
import type { Press, Said } from "../platform.ts";
import { followRoom } from "../rooms/follow-room.ts";
import { createRoomConnections } from "../rooms/room-connections.ts";
import type { BridgeCore, BridgeOptions, Channel } from "./bridge-core.ts";
import { carry } from "./carry.ts";
import { hearSaid } from "./hear-said.ts";
import { createPace } from "./pace.ts";
import { pressCard } from "./press-card.ts";

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
  // A person's words keep their order; nobody waits for another person's.
  const lines = new Map<string, Promise<void>>();
  const inTurn = (key: string, work: () => Promise<void>): Promise<void> => {
    const before = lines.get(key) ?? Promise.resolve();
    const next = before.then(work).catch((error: unknown) => {
      log.warn({ bridge: name, err: error }, "could not handle a message of a platform");
    });
    lines.set(key, next);
    void next.then(() => lines.get(key) === next && lines.delete(key));
    return next;
  };
  const events = {
    said: (said: Said) => inTurn(said.user.key, () => hearSaid(core, said)),
    pressed: (press: Press) => inTurn(press.user.key, () => pressCard(core, press)),
    failed: (error: unknown) => log.warn({ bridge: name, err: error }, "could not receive from a platform"),
  };

  const runChannel = async (channel: Channel) => {
    await openChannel(core, channel);
    const news = () => new Promise<void>((resolve) => bells.set(channel.id, resolve));
    return () => carry(core, channel, news);
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
    const loops = await Promise.all(
      [...channels.values()].map((channel) =>
        again(
          core,
          () => runChannel(channel),
          (why) => {
            channel.fault = why;
          },
        ),
      ),
    );
    state = "up";
    fault = undefined;
    ready.resolve();
    await Promise.all(loops.map((loop) => loop()));
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
      await Promise.allSettled(lines.values());
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
    // A store of another epoch has nothing of ours: everything begins anew.
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

/** Until it works or the bridge is closed. */
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
        "could not start bridge; trying again",
      );
      await wait(ms, undefined, { signal });
    }
  }
}
