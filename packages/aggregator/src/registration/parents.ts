// All the trees above us. What changes below us is told to each of them, and counts only if none of them refuses it.
// [AX-5.3-2]

import { setTimeout as wait } from "node:timers/promises";
import { closingIdsKey, McpxError, subtreeIdsMax, written } from "@mcpx/protocol";
import type { ParentFacts } from "../servers/tree-state.ts";
import { closingIdsOf, type Parent, type ParentOptions, type ParentParts, registerAt } from "./parent.ts";

export interface Parents {
  /**
   * Rejects with `registration_cycle` where one of them stands below us; resolves with the `subserver_id`s below us that
   * are registered elsewhere. What is announced while an announcement is under way goes with the next one.
   */
  announce(): Promise<ReadonlySet<string>>;
  /** The trees above us, also those that cannot be reached now. */
  ids(): ReadonlySet<string>;
  /** The state of the registration at each parent. */
  facts(): ParentFacts[];
  close(): Promise<void>;
}

/** A parent that refuses the registration for good today may accept it tomorrow, after an operator has changed something. */
const askAgainMs = 30_000;

export function registerAtAll(all: readonly ParentOptions[], parts: ParentParts): Parents {
  const closing = new AbortController();
  const current = new Map<ParentOptions, Parent>();
  /** Those learnt last. What is forgotten is refused by the parent again, and learnt again. */
  const known = new Set<string>();
  const learn = (id: string) => {
    known.delete(id);
    known.add(id);
    const [oldest] = known;
    if (known.size > subtreeIdsMax && oldest !== undefined) known.delete(oldest);
  };
  const learning: ParentParts = {
    ...parts,
    onCycle: (closingIds) => {
      // They stand above: a subserver that brings one of them again is refused, and learns that it is this one.
      for (const id of closingIds) learn(id);
      parts.onCycle?.(closingIds);
    },
  };

  async function keep(options: ParentOptions, first: Parent): Promise<void> {
    for (let parent = first; ; parent = registerAt(options, learning)) {
      current.set(options, parent);
      const error = await parent.registration.ended;
      if (closing.signal.aborted) return;
      const { url } = options;
      parts.log.error({ parent: url, err: error, retryInMs: askAgainMs }, "parent refused the registration");
      await wait(askAgainMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      if (closing.signal.aborted) return;
    }
  }

  // All of them before any is kept: a bad address is known at the start.
  const firsts = all.map((options) => [options, registerAt(options, learning)] as const);
  const kept = firsts.map(([options, first]) => keep(options, first));
  return {
    announce: oneAtATime(async () => {
      const told = [...current.values()].filter(({ registration }) => registration.state === "registered");
      const refused = told.map(({ registration }) => registration.update().catch(rethrowCycle));
      return new Set((await Promise.all(refused)).flat());
    }),
    ids() {
      for (const { registration } of current.values()) {
        for (const id of registration.parentIds) learn(id);
      }
      return known;
    },
    facts: () =>
      [...current].map(([{ url, segment }, { registration }]) => ({
        url,
        segment,
        state: registration.state,
      })),
    async close() {
      closing.abort();
      await Promise.allSettled([...current.values()].map((parent) => parent.close()));
      await Promise.allSettled(kept);
    },
  };
}

/** A parent that cannot be reached is told everything at the next registration. */
function rethrowCycle(error: unknown): string[] {
  const { reason, message } = error as { reason?: unknown; message?: unknown };
  if (reason !== "registration_cycle") return [];
  const data = { [closingIdsKey]: closingIdsOf(error) };
  throw new McpxError("registration_cycle", written(message), { data });
}

/** Many that come while one is under way share the next. */
function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(begin, begin);
    return next;
  };
  function begin(): Promise<T> {
    next = undefined;
    const now = work();
    running = now;
    return now;
  }
}
