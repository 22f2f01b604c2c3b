// Gates as proposals in a room: shown while they wait, ended there however they end elsewhere. What is published is
// only news: a gate is decided by proofs, and stands without its room as it does with it. [B-GATE-1] [B-GATE-2]
import type { Room } from "@mcpx/client";
import type { Logger, Principal } from "@mcpx/host";
import {
  gateOfProposal,
  gateProposal,
  gateProposalId,
  type JsonObject,
  McpxError,
  type RoomBounds,
} from "@mcpx/protocol";
import { toolSecrets } from "../gates/gate-warnings.ts";
import type { Gatekeeper, GateWatcher } from "../gates/gatekeeper.ts";
import type { Gate, ListedGate } from "../gates/store/gate-store.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { endProposal } from "./end-proposal.ts";
import { noticeOf, outcomeResult, outcomeText, reasonOf } from "./gate-words.ts";
import { ownProposals } from "./own-proposals.ts";
import { takeAdvice } from "./take-advice.ts";

export interface GateProposalsOptions {
  room: Room;
  state: TreeState;
  gates: Gatekeeper;
  log: Logger;
  limits: RoomBounds;
  principalsOf(id: string): readonly Principal[];
}

export interface GateProposals {
  /** From now on. What waits already is shown, and what was decided while nobody was here is ended, in its time. */
  start(): void;
  /** The outcome of the gate behind a proposal; waits until there is one. */
  outcomeOf(proposalId: string): Promise<JsonObject>;
  close(): void;
}

/** What the verbs share. */
export interface Showing extends GateProposalsOptions {
  /** Gates whose calls are under way, as the room was told: their ends are told as answers. */
  readonly underWay: Map<string, PromiseWithResolvers<Gate>>;
  /** Who has rejected which gate, so that saying it again is no news. */
  readonly advised: Map<string, Set<string>>;
}

export function proposeGates(options: GateProposalsOptions): GateProposals {
  const { room, gates, log } = options;
  const showing: Showing = { ...options, underWay: new Map(), advised: new Map() };
  /** One after the other for each gate: its end comes after its beginning. */
  const tails = new Map<string, Promise<void>>();
  const left = new AbortController();

  function next(id: string, work: () => Promise<void>): Promise<void> {
    const done = (tails.get(id) ?? Promise.resolve()).then(work).catch((error: unknown) => {
      if (left.signal.aborted) return;
      log.warn({ err: error, gate: id, room: room.topic }, "could not show a gate in its room");
    });
    tails.set(id, done);
    return done.then(() => {
      if (tails.get(id) === done) tails.delete(id);
    });
  }

  /** A room takes so many proposals a minute: nobody waits for it. */
  function catchUpSoon(): void {
    catchUp(showing, next).catch((error: unknown) => {
      log.error({ err: error, room: room.topic }, "could not compare gates with their proposals");
    });
  }

  const watcher: GateWatcher = {
    opened: (gate) => void next(gate.id, () => show(showing, gate)),
    changed: (gate) => void next(gate.id, () => tellChange(showing, gate)),
  };
  const listen = () => {
    gates.watchers.add(watcher);
    room.addEventListener(
      "proposal",
      ({ detail }) => {
        const { type, proposal, by } = detail;
        const own = type === "advice" ? ownProposals(showing, [proposal])[0] : undefined;
        if (own === undefined || by === undefined) return;
        void next(own.id, () => takeAdvice(showing, own.id, proposal, by));
      },
      left,
    );
    room.addEventListener("gap", catchUpSoon, left);
    room.addEventListener(
      "state",
      ({ detail }) => {
        const { state, reason } = detail;
        if (state === "live") {
          log.info({ room: room.topic }, "gates shown in their room again");
          catchUpSoon();
        } else log.warn({ room: room.topic, reason }, "gate room unreachable; gates work without it");
      },
      left,
    );
  };

  return {
    start() {
      listen();
      catchUpSoon();
    },
    async outcomeOf(proposalId) {
      const gate = await gates.store.find(gateOfProposal(proposalId) ?? "");
      if (gate === undefined) throw new McpxError("confirmation_unknown");
      return outcomeResult(await ended(showing, gate));
    },
    close() {
      left.abort();
      gates.watchers.delete(watcher);
    },
  };
}

/** Also after a restart, or where the room could not be followed: it may have been told before, or not. */
async function catchUp(
  showing: Showing,
  next: (id: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { room, gates } = showing;
  const { store } = gates;
  const known = ownProposals(showing, room.proposals.all());
  await Promise.all(
    known.map(({ id, proposal }) =>
      next(id, async () => {
        const gate = await store.find(id);
        const now = room.proposals.get(proposal.id) ?? proposal;
        if (gate?.status !== "pending") return endProposal(showing, now, gate);
        for (const { by } of now.rejections) await takeAdvice(showing, id, now, by);
      }),
    ),
  );
  const pending = await store.list({ status: "pending" });
  // The one that has waited longest first, as it would have been.
  await Promise.all(pending.reverse().map((gate) => next(gate.id, () => show(showing, gate))));
}

/** Only where that was not done before: the same gate has the same id. */
async function show({ room, state, gates, limits }: Showing, { id, isAllowed }: ListedGate): Promise<void> {
  const proposalId = gateProposalId(id);
  const gate = await gates.store.find(id);
  if (gate?.status !== "pending" || isAllowed === true || room.proposals.get(proposalId) !== undefined)
    return;
  const last = await gates.store.findLast(gate);
  const payload = gateProposal(
    noticeOf(gates, gate, { last, secrets: toolSecrets(state, gate) }),
    reasonOf(gate),
    limits,
  );
  try {
    await room.publish({ kind: "mcp/proposal", id: proposalId, to: [room.id], payload });
  } catch (error) {
    // It is there, further back than we have looked, and what it was compared with has changed since.
    if ((error as { reason?: unknown }).reason !== "id_conflict") throw error;
  }
}

async function tellChange(showing: Showing, gate: Gate): Promise<void> {
  const { room, underWay } = showing;
  if (gate.isAllowed === true) return;
  const ending = underWay.get(gate.id);
  if (ending !== undefined) {
    if (gate.status !== "consumed") ending.resolve(gate);
    return;
  }
  const id = gateProposalId(gate.id);
  if (gate.status !== "pending") return endProposal(showing, room.proposals.get(id) ?? { id }, gate);
  const payload = { status: "considering", reason: outcomeText(gate) };
  await room.publish({ kind: "mcpx.status.proposal", to: [room.id], correlation_id: id, payload });
}

async function ended({ underWay }: Showing, gate: Gate): Promise<Gate> {
  const isOpen = gate.status === "pending" || gate.status === "approved" || gate.status === "consumed";
  const ending = isOpen ? underWay.get(gate.id) : undefined;
  return ending === undefined ? gate : await ending.promise;
}
