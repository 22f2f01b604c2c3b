// The gates of a tree, over its stores: with the approvers who are enrolled, and the chain that says who they are.
import {
  type AnchorSource,
  type ApproverStore,
  type AuthorityCards,
  type AuthorityChange,
  createAuthorityCards,
  createGatekeeper,
  type Gatekeeper,
  type KeptChain,
  keepGates,
  openChain,
  type Rule,
  type TreeStores,
} from "@mcpx/aggregator";
import type { Audit, Clock, Logger } from "@mcpx/host";
import { isObject } from "@mcpx/protocol";
import { watchApprovers } from "../access/approvers.ts";
import { orFailure } from "../access/authority.ts";
import type { GateSettings } from "../settings/gate-settings.ts";

export interface GateParts {
  dataDir: string;
  stores: TreeStores;
  approvers: ApproverStore;
  audit: Audit;
  clock: Clock;
  log: Logger;
  /** Where people reach the gateway; asked when a call waits. */
  url(): string;
  /** What has to be done before anybody can decide there. */
  obstacle?: string | undefined;
  /** Stands before the names of tools. */
  rootSegment: string | undefined;
  /** Whether a token was revoked. */
  isRevoked(jti: string): boolean;
  /** Whether no other process works with this data directory. */
  isAlone: boolean;
}

/** Who approves and what the gates hold, as it was signed. [B-KEY-2] */
export interface GateAuthority {
  chain: KeptChain;
  cards: AuthorityCards;
  /** An approver has signed something of the configuration. */
  onSigned: (() => void) | undefined;
  /** Panic ends at once where nobody could be asked; else this is the gate of who has to sign it. */
  endPanic(): Promise<string | undefined>;
  beginPanic(): void;
  /** Replaces the rules by which calls wait. */
  judgeBy(rules: Pick<Gatekeeper, "rules" | "unannotated" | "quorum">): void;
}

export interface OpenGates {
  gates: Gatekeeper;
  authority: GateAuthority;
}

/** How soon what a command has appended to the chain counts. */
const lookMs = 500;
const calm: AuthorityChange = { key: "panic", value: null };
const panicked: AuthorityChange = { key: "panic", value: true };

/** What is opened is closed by `opened`. */
export async function openGates(
  settings: GateSettings,
  parts: GateParts,
  opened: AsyncDisposableStack,
): Promise<OpenGates> {
  const { dataDir, stores, approvers, audit, clock, log, obstacle, rootSegment, isAlone, isRevoked } = parts;
  const { anchors: configured, url, room: _, ...rest } = settings;
  const aggregatorId = await stores.facts.aggregatorId();
  const chain = await orFailure(dataDir, () =>
    openChain({ store: stores.chain, aggregatorId, clock, audit, actor: "gateway" }),
  );
  if (await stores.facts.isPanic()) await chain.settle(() => [panicked]);
  const anchors = watchApprovers({
    ...{ store: approvers, known: configured, log, chain },
    wait: (changes) => void wanting("approvers", changes),
  });
  const gates = createGatekeeper({
    ...rest,
    aggregatorId,
    store: stores.gates({ clock, rootSegment }),
    anchors,
    isPanic: chain.now().state.get("panic") === true,
    isRevoked,
    approveUrl: (id) => `${url ?? byName(parts.url())}/approve/${id}`,
    obstacle,
  });
  const signed = async (changes: readonly AuthorityChange[]) => {
    for (const change of changes) await countNow(gates, stores, change);
    authority.onSigned?.();
  };
  const cards = createAuthorityCards({ gates, chain, log, signed });
  gates.carryOutChange = cards.carryOut;
  const wanting = (source: string, changes: readonly AuthorityChange[]) =>
    cards
      .want(source, changes)
      .catch((error) => log.error({ err: error }, "could not show changes that wait for a signature"));
  const authority: GateAuthority = {
    ...{ chain, cards, onSigned: undefined, ...panicOf(chain, cards, log) },
    judgeBy: ({ rules, unannotated, quorum }) => void Object.assign(gates, { rules, unannotated, quorum }),
  };
  chain.onGrown = async (changes) => {
    await signed(changes);
    // Not waited for: it may write to the chain itself.
    cards.renew().catch((error) => log.error({ err: error }, "could not renew cards"));
  };
  const stop = await keepGates(gates, { audit, log, mayRecover: isAlone });
  opened.defer(stop);
  await anchors.now();
  opened.defer(keepLooking(anchors, chain, log));
  return { gates, authority };
}

/** Takes over what commands have appended. */
function keepLooking(anchors: AnchorSource, chain: KeptChain, log: Logger): () => void {
  let isBroken = false;
  const look = async () => {
    await chain.refresh();
    // Approvers who have come or gone are seen also while nobody decides.
    await anchors.now();
    isBroken = false;
  };
  let looking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch((error) => {
      if (!isBroken)
        log.error({ err: error }, "chain of approvers was changed outside the gateway; keeping the old one");
      isBroken = true;
    });
  }, lookMs).unref();
  return () => clearInterval(timer);
}

function panicOf(
  chain: KeptChain,
  cards: AuthorityCards,
  log: Logger,
): Pick<GateAuthority, "beginPanic" | "endPanic"> {
  return {
    beginPanic() {
      // Panic is on already; the chain says so as soon as it may.
      chain
        .settle(() => [panicked])
        .catch((error) => log.error({ err: error }, "could not write panic to the chain of approvers"));
      void cards.want("panic", []);
    },
    async endPanic() {
      const held = await chain.settle(() => [calm]);
      return held.length === 0 ? undefined : (await cards.want("panic", held)).get("panic");
    },
  };
}

/** Where something else than servers was signed, it counts without a restart. */
async function countNow(
  gates: Gatekeeper,
  { facts }: TreeStores,
  { key, value }: AuthorityChange,
): Promise<void> {
  if (key === "panic") {
    gates.isPanic = value === true;
    await facts.keepPanic(gates.isPanic);
  }
  if (key === "rules" && isObject(value)) {
    gates.rules = value.rules as readonly Rule[];
    gates.unannotated = value.unannotated as "ask" | "allow";
    gates.quorum = value.quorum as number;
  }
}

/** Passkeys are made for names: on this machine a number has one. */
function byName(url: string): string {
  return url.replace(/^http:\/\/(127\.0\.0\.1|\[::1\]):/, "http://localhost:");
}
