// The gates of a tree, over its database, the approvers of its data directory and the chain that says who they are.
import type { DatabaseSync } from "node:sqlite";
import {
  type ApproverStore,
  type AuthorityCards,
  type AuthorityChange,
  aggregatorId,
  createAuthorityCards,
  createFileApproverStore,
  createGatekeeper,
  createSqliteGateStore,
  type Gatekeeper,
  type KeptChain,
  keepGates,
  keepPanic,
  openChain,
  type Rule,
  readPanic,
} from "@mcpx/aggregator";
import type { Audit, Clock, Logger } from "@mcpx/host";
import { isObject } from "@mcpx/protocol";
import { approversDir, watchApprovers } from "../access/approvers.ts";
import { orFailure } from "../access/authority.ts";
import type { GateSettings } from "../settings/gate-settings.ts";

export interface GateParts {
  dataDir: string;
  db: DatabaseSync;
  audit: Audit;
  clock: Clock;
  log: Logger;
  /** Where people reach the gateway; asked when a call waits. */
  url(): string;
  /** What has to be done before anybody can decide there. */
  obstacle?: string | undefined;
  /** Stands before the names of tools. */
  rootSegment: string | undefined;
  /** Whether a token was taken back. */
  isRevoked(jti: string): boolean;
  /** Nobody else works with this data directory. */
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
  /** Which calls wait from now on. */
  judgeBy(rules: Pick<Gatekeeper, "rules" | "unannotated" | "quorum">): void;
}

export interface OpenGates {
  gates: Gatekeeper;
  approvers: ApproverStore;
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
  const { dataDir, db, audit, clock, log, obstacle, rootSegment, isAlone, isRevoked } = parts;
  const { anchors, url, room: _, ...rest } = settings;
  const approvers = await createFileApproverStore(approversDir(dataDir));
  const id = aggregatorId(db);
  const chain = await orFailure(dataDir, () =>
    openChain({ db, aggregatorId: id, clock, audit, actor: "gateway" }),
  );
  if (readPanic(db)) chain.settle([panicked]);
  const gates = createGatekeeper({
    ...rest,
    aggregatorId: id,
    store: createSqliteGateStore({ db, clock, rootSegment }),
    anchors: watchApprovers({
      ...{ dataDir, known: anchors, log, keepCounter: approvers.keepCounter, chain },
      wait: (changes) => void wanting("approvers", changes),
    }),
    isPanic: chain.now().state.get("panic") === true,
    isRevoked,
    approveUrl: (id) => `${url ?? byName(parts.url())}/approve/${id}`,
    obstacle,
  });
  const signed = (changes: readonly AuthorityChange[]) => {
    for (const change of changes) countNow(gates, db, change);
    authority.onSigned?.();
  };
  const cards = createAuthorityCards({ gates, chain, log, signed });
  gates.carryOutChange = cards.carryOut;
  const wanting = (source: string, changes: readonly AuthorityChange[]) =>
    cards.want(source, changes).catch((error) => log.error({ err: error }, "what waits could not be shown"));
  const authority: GateAuthority = {
    ...{ chain, cards, onSigned: undefined, ...panicOf(chain, cards, log) },
    judgeBy: ({ rules, unannotated, quorum }) => void Object.assign(gates, { rules, unannotated, quorum }),
  };
  const stop = await keepGates(gates, { audit, log, mayRecover: isAlone });
  opened.defer(stop);
  opened.defer(keepLooking(gates, authority, signed, log));
  return { gates, approvers, authority };
}

/** Takes over what commands have appended, and keeps the cards as they should be. */
function keepLooking(
  gates: Gatekeeper,
  { chain, cards }: GateAuthority,
  signed: (changes: readonly AuthorityChange[]) => void,
  log: Logger,
): () => void {
  let isBroken = false;
  const look = async () => {
    const before = chain.now();
    if (chain.isBehind()) await chain.refresh();
    const after = chain.now();
    if (before.head?.hash !== after.head?.hash) {
      const keys = new Set([...before.state.keys(), ...after.state.keys()]);
      signed([...keys].map((key) => ({ key, value: after.state.get(key) ?? null })));
      await cards.renew();
    }
    // Files that have come or gone are seen also while nobody decides.
    if (typeof gates.anchors === "function") gates.anchors();
    isBroken = false;
  };
  let looking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch((error) => {
      if (!isBroken)
        log.error({ err: error }, "the chain of approvers was changed by somebody; the old one counts");
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
        .settleAfterOthers([panicked])
        .catch((error) => log.error({ err: error }, "panic could not be written to the chain of approvers"));
      void cards.want("panic", []);
    },
    async endPanic() {
      const held = await chain.settleAfterOthers([calm]);
      return held.length === 0 ? undefined : (await cards.want("panic", held)).get("panic");
    },
  };
}

/** Where something else than servers was signed, it counts without a restart. */
function countNow(gates: Gatekeeper, db: DatabaseSync, { key, value }: AuthorityChange): void {
  if (key === "panic") {
    gates.isPanic = value === true;
    keepPanic(db, gates.isPanic);
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
