// A proposal of this participant, from its publication to its one outcome. [X1-4.2-1]

import type { JsonObject } from "@mcpx/protocol";
import { numeric, written } from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";
import { publish, type RoomCore } from "../core/room-core.ts";
import { asError, PeerError, RoomError } from "../core/room-error.ts";
import type { ProposalChange, ProposalStatus } from "./proposal.ts";
import type { ProposalTracking } from "./track-proposals.ts";

export interface ProposalDraft {
  /** Who could do it; nobody in particular where it is left out. */
  to?: string | readonly string[] | undefined;
  method: string;
  params?: JsonObject | undefined;
  reason?: string | undefined;
  /** Where it has to be known before; a new one unless given. */
  id?: string | undefined;
  /** 5 minutes unless given. */
  ttlMs?: number | undefined;
}

export interface ProposalHandle {
  readonly id: string;
  readonly status: ProposalStatus;
  /**
   * The fulfilment's result; rejects when it was rejected, withdrawn, has expired or the call failed. A call that was on
   * its way when the proposal ended can still be made: the event `proposal` of the type `called late`.
   */
  readonly result: Promise<JsonObject>;
  withdraw(reason?: string): Promise<void>;
}

export function propose(core: RoomCore, tracking: ProposalTracking, draft: ProposalDraft): ProposalHandle {
  const { id = newId(), method, params = {}, reason, ttlMs } = draft;
  const to = typeof draft.to === "string" ? [draft.to] : (draft.to ?? []);
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  // A caller that ignores the result gets no unhandled rejection.
  promise.catch(() => {});
  const { signal } = core.connection;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const finish = (settle: () => void) => {
    clearTimeout(timer);
    unwatch();
    signal.removeEventListener("abort", onClosed);
    settle();
  };
  const fail = (error: Error) => finish(() => reject(error));
  const onClosed = () => fail(signal.reason);
  const unwatch = tracking.watch(id, (change) => {
    if (change.type === "fulfilled") {
      const late = new RoomError("timeout", "the proposal was fulfilled, but no answer came");
      timer = setTimeout(() => fail(late), core.options.callTimeoutMs);
    }
    const outcome = outcomeOf(change);
    if (outcome instanceof Error) fail(outcome);
    else if (outcome !== undefined) finish(() => resolve(outcome));
  });
  signal.addEventListener("abort", onClosed, { once: true });
  const payload = {
    method,
    params,
    ...(reason === undefined ? {} : { reason }),
    ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }),
  };
  publish(core, { kind: "mcp/proposal", id, to, payload }).catch((error: unknown) => fail(asError(error)));
  return {
    id,
    result: promise,
    get status() {
      return core.tracker.get(id)?.status ?? "pending";
    },
    withdraw: (why) => withdraw(core, [id], why),
  };
}

/** Withdraws one or several of this participant's proposals. [PL-8-1] */
export async function withdraw(core: RoomCore, ids: readonly string[], reason?: string): Promise<void> {
  if (ids.length === 0) return;
  const why = reason === undefined ? {} : { reason };
  const kind = "mcpx.withdraw.proposal";
  if (ids.length === 1) await publish(core, { kind, correlation_id: ids[0], payload: why });
  else await publish(core, { kind, payload: { ...why, proposals: [...ids] } });
}

/** `undefined` while it is open. */
function outcomeOf({ type, proposal, by }: ProposalChange): JsonObject | Error | undefined {
  const { result, error, rejections } = proposal;
  switch (type) {
    case "answered":
      if (result !== undefined) return result;
      return new PeerError(numeric(error?.code ?? 0), written(error?.message ?? "failed"), error?.data);
    case "rejected": {
      const { code, reason = "no reason" } = rejections.findLast(({ isFinal }) => isFinal) ?? {};
      const data = { by, reason, ...(code === undefined ? {} : { code }) };
      return new RoomError("proposal_rejected", `${by} has rejected it: ${reason}`, { data });
    }
    case "withdrawn":
      return new RoomError("proposal_withdrawn", "the proposal was withdrawn before anybody made the call");
    case "expired":
      return new RoomError("proposal_expired", "nobody has made the call within the proposal's time");
    default:
      return undefined;
  }
}
