// Where each topic is served, as this gateway knows it: here, under an epoch, or at a peer.
import type { Logger, PeerLink } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { TopicOwner, TopicOwners } from "../topic-log/postgres/owners.ts";
import type { Neighbours } from "./neighbours.ts";
import { preferredGateway } from "./rendezvous.ts";

export interface Ownership {
  /**
   * The peer that serves a topic; undefined where it is to be served here. Rejects where that peer cannot be reached.
   */
  peerOf(topic: string): Promise<PeerLink | undefined>;
  /** From now on it is served here. Rejects with `draining` where a peer has it. The topic is in the log. */
  claim(topic: string): Promise<void>;
  /** Under which epoch it is served here. */
  epochOf(topic: string): number | undefined;
  /** It is another's, as the log says. */
  lose(topic: string): void;
  /** Nothing is served here any more, because the lease has ended. */
  loseAll(): void;
  /** Gives all that is served here back, so that the others need not wait for a lease to end. */
  release(): Promise<void>;
}

export interface OwnershipParts {
  owners: TopicOwners;
  neighbours: Pick<Neighbours, "number" | "living" | "linkTo">;
  /** Ends the lease of a gateway that is gone. */
  endLease(number: number): Promise<void>;
  log: Logger;
}

export function createOwnership({ owners, neighbours, endLease, log }: OwnershipParts): Ownership {
  const epochs = new Map<string, number>();
  /** One claim of a topic at a time. */
  const claims = new Map<string, Promise<void>>();

  async function claim(topic: string): Promise<void> {
    const number = neighbours.number();
    const { owner, epoch } = await owners.claim(topic, number);
    if (owner !== number) throw elsewhere();
    // The lease may have ended while the store was asked.
    if (neighbours.number() !== number) throw elsewhere();
    epochs.set(topic, epoch);
  }

  /** Says whether the owner was given up: it is dead, and the topic anybody's. */
  async function giveUp({ owner }: TopicOwner, error: unknown): Promise<boolean> {
    if (!isGone(error)) return false;
    log.warn({ gateway: owner }, "a gateway is gone: its topics are taken over");
    await endLease(owner);
    return true;
  }

  return {
    async peerOf(topic) {
      if (epochs.has(topic)) return undefined;
      const own = neighbours.number();
      const owner = await owners.find(topic);
      if (owner !== undefined) {
        if (owner.owner === own) return undefined;
        try {
          return await neighbours.linkTo(owner.owner);
        } catch (error) {
          if (!(await giveUp(owner, error))) throw error;
        }
      }
      const living = neighbours.living().map(({ number }) => number);
      const preferred = preferredGateway(topic, living);
      if (preferred === undefined || preferred === own) return undefined;
      // The gateway that is reached serves it: an even spread is a wish, not a promise.
      return neighbours.linkTo(preferred).catch(() => undefined);
    },
    claim(topic) {
      if (epochs.has(topic)) return Promise.resolve();
      const claiming = claims.get(topic) ?? claim(topic).finally(() => claims.delete(topic));
      claims.set(topic, claiming);
      return claiming;
    },
    epochOf: (topic) => epochs.get(topic),
    lose: (topic) => void epochs.delete(topic),
    loseAll: () => epochs.clear(),
    async release() {
      const topics = [...epochs.keys()];
      epochs.clear();
      if (topics.length === 0) return;
      // Else they are free when the lease ends.
      await owners
        .release(topics, neighbours.number())
        .catch((error: unknown) => log.warn({ err: error }, "could not give topics back"));
    },
  };
}

function elsewhere(): McpxError {
  return new McpxError("draining", "another gateway serves this topic", { retryAfterMs: 200 });
}

/** Nothing listens at its address any more, or another gateway does. */
function isGone(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.name === "PeerGone";
}
