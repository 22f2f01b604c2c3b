// The proposals of a room, and what one can do about them.
import type { JsonObject } from "@mcpx/protocol";
import type { RequestOptions } from "../calls/request.ts";
import { requestPeer } from "../calls/request-peer.ts";
import { publish, type RoomCore } from "../core/room-core.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import { withFulfilmentMeta } from "../proposals/fulfilment-meta.ts";
import type { Proposal } from "../proposals/proposal.ts";
import { withdraw } from "../proposals/propose.ts";
import type { ProposalTracking } from "../proposals/track-proposals.ts";

export interface FulfilOptions extends RequestOptions {
  /** Whom to ask; needed where the proposal names nobody or several. */
  target?: string;
  /** Other parameters than proposed; everybody sees that they were changed. */
  params?: JsonObject;
}

export type ProposalWord = "considering" | "queued" | "processing" | "unable";

export class RoomProposals {
  readonly #core: RoomCore;
  readonly #tracking: ProposalTracking;

  constructor(core: RoomCore, tracking: ProposalTracking) {
    this.#core = core;
    this.#tracking = tracking;
  }

  /**
   * Those still open, in the order they were made.
   * @example for (const { id, method } of room.proposals.pending()) console.log(id, method);
   */
  pending(): Proposal[] {
    return this.#core.tracker.pending();
  }

  /**
   * All that are remembered.
   * @example const done = room.proposals.all().filter(({ status }) => status === "fulfilled");
   */
  all(): Proposal[] {
    return this.#core.tracker.all();
  }

  /**
   * One by its id.
   * @example room.proposals.get(id)?.status;
   */
  get(id: string): Proposal | undefined {
    return this.#core.tracker.get(id);
  }

  /**
   * Takes in what was said before we joined, oldest first: a proposal of an older page of history, and what is known of
   * its end. Nobody is told of it by an event.
   * @example room.proposals.recall((await room.history({ beforeSeq: 43, limit: 1 })).envelopes);
   */
  recall(envelopes: readonly RoomEnvelope[]): void {
    this.#tracking.remember(envelopes);
  }

  /**
   * How often which reason stands at the rejections of the proposals that are remembered.
   * @example room.proposals.countsByReason().get("busy");
   */
  countsByReason(): ReadonlyMap<string, number> {
    return this.#core.tracker.countsByReason();
  }

  /**
   * Does what was proposed: calls the target, whose answer comes here and goes to the proposer. Needs level `full`.
   * @example await room.proposals.fulfil(proposal, { params: { ...proposal.params, arguments: { degrees: 160 } } });
   */
  fulfil(proposal: Proposal, options: FulfilOptions = {}): Promise<JsonObject> {
    const { id, proposer, targets, method } = proposal;
    const status = this.get(id)?.status ?? proposal.status;
    if (status !== "pending") {
      return Promise.reject(new RoomError("not_pending", `the proposal is ${status} already`));
    }
    const target = options.target ?? (targets.length === 1 ? targets[0] : undefined);
    if (target === undefined) {
      return Promise.reject(
        new RoomError("bad_option", "say whom to ask: the proposal names no single target"),
      );
    }
    const params = withFulfilmentMeta(options.params ?? proposal.params, { proposal: id, proposer });
    return requestPeer(this.#core, target, method, params, { ...options, correlation_id: id });
  }

  /**
   * Rejects it. The word of a target ends the proposal; anybody else's is advice. `code` is a word for programs
   * (`busy`, `incapable`, `policy`), `reason` a sentence for people.
   * @example await room.proposals.reject(proposal, { code: "busy", reason: "Baking until six" });
   */
  async reject(proposal: Proposal, { reason, code }: { reason?: string; code?: string } = {}): Promise<void> {
    const payload = { ...(reason === undefined ? {} : { reason }), ...(code === undefined ? {} : { code }) };
    await this.#about(proposal, "mcpx.reject.proposal", payload);
  }

  /**
   * Says how it stands.
   * @example await room.proposals.status(proposal, "considering");
   */
  async status(proposal: Proposal, status: ProposalWord): Promise<void> {
    await this.#about(proposal, "mcpx.status.proposal", { status });
  }

  /**
   * Takes back own proposals, many at once.
   * @example await room.proposals.withdraw(room.proposals.pending().filter(({ proposer }) => proposer === room.id));
   */
  withdraw(proposals: readonly (Proposal | string)[], reason?: string): Promise<void> {
    const ids = proposals.map((one) => (typeof one === "string" ? one : one.id));
    return withdraw(this.#core, ids, reason);
  }

  async #about({ id, proposer }: Proposal, kind: string, payload: JsonObject): Promise<void> {
    await publish(this.#core, { kind, to: [proposer], correlation_id: id, payload });
  }
}
