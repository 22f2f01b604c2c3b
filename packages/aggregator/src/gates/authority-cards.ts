// Changes that make gates weaker wait as cards, at gates of their own: an approver signs them as a call is signed, at
// the page, the console, the terminal or in the room. What was signed is appended to the chain. [B-KEY-2]
import type { Logger } from "@mcpx/host";
import { canonicalJson, cautious, digestOf, isObject, McpxError } from "@mcpx/protocol";
import type { AuthorityChange } from "./chain/authority-state.ts";
import { isSame, signaturesNeeded } from "./chain/authority-state.ts";
import { authorityIdentity, authorityServer, ChainFault, signedArguments } from "./chain/chain-entry.ts";
import { sentencesOf } from "./chain/change-words.ts";
import type { KeptChain } from "./chain/keep-chain.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { wake } from "./gatekeeper.ts";
import { isFinished } from "./store/gate-steps.ts";
import { type CallOutcome, type Gate, type GateWish, termsOf } from "./store/gate-store.ts";

export interface AuthorityCards {
  /**
   * All that this source wants now and that needs a signature; another time replaces it. Gives back the gates of all
   * that waits, by what it is about: `approver/anna`, `rules`.
   */
  want(source: string, changes: readonly AuthorityChange[]): Promise<ReadonlyMap<string, string>>;
  /** What waits for a signature. */
  waiting(): AuthorityChange[];
  /** The chain has grown, or time has passed: cards that fit no more go, and those that are missing come. */
  renew(): Promise<void>;
  /** An approved card. */
  carryOut(gate: Gate): Promise<CallOutcome>;
}

export interface AuthorityCardsOptions {
  gates: Gatekeeper;
  chain: KeptChain;
  log: Logger;
  /** What was signed counts now. */
  signed(changes: readonly AuthorityChange[]): Promise<void>;
}

const askedBy = "mcpx";
/** An operator who set something up finds the card when they come back. */
const cardMs = 7 * 86_400_000;
/** Of one caller no more may wait; the rest follows. */
const cardsMax = 15;

export function createAuthorityCards(options: AuthorityCardsOptions): AuthorityCards {
  const { gates, chain, log, signed } = options;
  const wanted = new Map<string, readonly AuthorityChange[]>();
  /**
   * Changes that an approver has rejected, or that could not be made: not asked for again while it is wanted unchanged.
   */
  const declined = new Set<string>();
  let renewing: Promise<unknown> = Promise.resolve();

  const waiting = () =>
    [...wanted.values()].flat().filter(({ key, value }) => !isSame(chain.now().state.get(key), value));

  async function renewNow(): Promise<ReadonlyMap<string, string>> {
    const { state } = chain.now();
    if (signaturesNeeded(state) === 0) {
      // Nobody can be asked any more, so nobody has to be.
      if (waiting().length > 0) {
        const changes = waiting();
        await chain.settle(() => changes);
        await signed(changes);
      }
    }
    const cards = await Promise.all(groupsOf(waiting()).map((changes) => wishFor(chain, changes)));
    const texts = new Set(cards.map(groupText));
    for (const text of declined) if (!texts.has(text)) declined.delete(text);
    const fresh = cards.filter((wish) => !declined.has(groupText(wish))).slice(0, cardsMax);
    await withdrawOthers(gates, fresh);
    const ids = await Promise.all(fresh.map((wish) => open(gates, wish)));
    return new Map(fresh.map((wish, index) => [groupOf(changesOf(wish)), ids[index] ?? ""]));
  }

  function renew(): Promise<ReadonlyMap<string, string>> {
    const next = renewing.then(renewNow);
    renewing = next.catch(() => {});
    return next;
  }

  async function carryOut(gate: Gate): Promise<CallOutcome> {
    const changes = changesOf(gate);
    try {
      if (!isStillWanted(changes, waiting()))
        throw new McpxError("call_changed", "this change was withdrawn or replaced");
      const proofs = gate.approvals.map(({ proof }) => proof);
      await chain.sign({ changes, terms: termsOf(gate, gates.aggregatorId), proofs });
    } catch (error) {
      declined.add(groupText(gate));
      log.warn({ err: error, gate: gate.id }, "signed change of approvers or rules is not valid");
      const refusal = error instanceof McpxError ? error.code : "bad_proof";
      const reason = error instanceof McpxError || error instanceof ChainFault ? error.message : "it failed";
      return { status: "refused", refusal, reason };
    }
    await signed(changes);
    setImmediate(() => void renew().catch((error) => log.error({ err: error }, "could not renew cards")));
    const text = `signed as entry ${chain.now().head?.n ?? 0} of the chain of approvers`;
    return { status: "done", resultText: JSON.stringify({ result: { content: [{ type: "text", text }] } }) };
  }

  gates.watchers.add({
    changed(gate) {
      if (isAuthorityGate(gate) && gate.status === "rejected" && gate.rejectedBy !== askedBy) {
        declined.add(groupText(gate));
      }
    },
  });

  return {
    async want(source, changes) {
      wanted.set(source, changes);
      return await renew();
    },
    waiting,
    renew: async () => void (await renew()),
    carryOut,
  };
}

function isAuthorityGate({ server }: Pick<Gate, "server">): boolean {
  return server?.identity === authorityIdentity;
}

/** One card for each approver, each server, and the rules. */
function groupsOf(changes: readonly AuthorityChange[]): AuthorityChange[][] {
  return [...Map.groupBy(changes, (change) => groupOf([change])).values()];
}

function groupOf([first]: readonly AuthorityChange[]): string {
  return first?.key.split("/", 2).join("/") ?? "";
}

const toolNames: Readonly<Record<string, string>> = {
  approver: "approvers",
  anchor: "approvers",
  rules: "rules",
  panic: "panic",
};

async function wishFor(chain: KeptChain, changes: readonly AuthorityChange[]): Promise<GateWish> {
  const { state, head } = chain.now();
  const [kind = ""] = changes[0]?.key.split("/") ?? [];
  const tool = toolNames[kind] ?? "trust";
  const given = signedArguments(changes, { head, what: sentencesOf(state, changes) });
  return {
    principal: askedBy,
    session: askedBy,
    keys: [],
    tool: `mcpx.${tool}`,
    argumentsText: JSON.stringify(given),
    digest: await digestOf(given),
    server: await authorityServer(tool),
    route: ["mcpx", tool],
    capability: cautious,
    why: "weaker gates",
    approvers: signaturesNeeded(state),
  };
}

/** A card that is being signed at this moment is the same card: its end renews the cards. */
async function open(gates: Gatekeeper, wish: GateWish): Promise<string> {
  const { store, watchers } = gates;
  const { gate, isNew } = await store.open(wish, cardMs);
  if (isFinished(gate)) {
    // A gate of the same change has ended: its outcome is marked as seen, and a new gate is opened.
    await store.deliver(gate.id);
    return await open(gates, wish);
  }
  if (isNew) for (const { opened } of watchers) opened?.(gate);
  return gate.id;
}

/** Their place in the chain is taken, or nobody wants them any more. */
async function withdrawOthers(gates: Gatekeeper, kept: readonly GateWish[]): Promise<void> {
  const digests = new Set(kept.map(({ digest }) => digest));
  for (const listed of await gates.store.list({ status: "pending" })) {
    if (!isAuthorityGate(listed) || digests.has(listed.digest)) continue;
    const reason = "withdrawn: something else has changed first";
    wake(gates, await gates.store.reject(listed.id, { by: askedBy, reason }));
  }
}

function changesOf({ argumentsText }: Pick<Gate, "argumentsText">): AuthorityChange[] {
  const given: unknown = JSON.parse(argumentsText);
  return isObject(given) && Array.isArray(given.changes) ? (given.changes as AuthorityChange[]) : [];
}

/** What is changed, wherever in the chain. */
function groupText(wish: Pick<Gate, "argumentsText">): string {
  return canonicalJson(changesOf(wish));
}

function isStillWanted(changes: readonly AuthorityChange[], wanted: readonly AuthorityChange[]): boolean {
  return changes.every(({ key, value }) => wanted.some((one) => one.key === key && isSame(one.value, value)));
}
