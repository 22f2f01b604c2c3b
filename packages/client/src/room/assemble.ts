// Puts the parts of a room together, and takes them apart at its end.
import { type AccessKey, isId, isProtocol } from "@mcpx/protocol";
import { Calls } from "../calls/calls.ts";
import { lostInGap } from "../calls/request.ts";
import { Connection, type ConnectionHandlers } from "../connection/connection.ts";
import { gatewayTransport } from "../connection/gateway-transport.ts";
import { Outbox } from "../connection/outbox.ts";
import { publish, type RoomCore } from "../core/room-core.ts";
import { asError, RoomError } from "../core/room-error.ts";
import { RoomEvents } from "../core/room-events.ts";
import { Roster } from "../core/roster.ts";
import { ProposalTracking } from "../proposals/track-proposals.ts";
import { ProposalTracker } from "../proposals/tracker.ts";
import type { RoomSigning } from "../signing/room-signing.ts";
import type { JoinOptions } from "./join-room.ts";
import { takeNotice, takeWelcome } from "./presence.ts";
import { route } from "./route.ts";

export interface RoomParts {
  core: RoomCore;
  tracking: ProposalTracking;
  /** Settles at the first welcome, or when there will be none. */
  welcomed: Promise<void>;
}

const windowMax = 32;

export function assemble(options: JoinOptions, signing?: RoomSigning): RoomParts {
  const { topic, protocol = "mcpx/v0.1", outboxMax = 1_000, callsMax = 1_000 } = options;
  if (!isId(topic)) throw new RoomError("bad_option", "topic must be a name");
  if (!isProtocol(protocol)) throw new RoomError("bad_option", "protocol must be mcpx/v0.1 or mcp-x/v0");
  const welcome = Promise.withResolvers<void>();
  // The parts know each other; the handlers are the first to be made and the last to be called.
  const parts: Pick<RoomParts, "core" | "tracking"> = Object.create(null);
  const outbox = new Outbox({ max: outboxMax, windowMax, signing });
  const connection = new Connection(
    { ...connectionOptions({ ...options, protocol }), signing },
    outbox,
    handlersFor(parts, welcome, options),
  );
  parts.core = {
    topic,
    protocol,
    options: {
      callTimeoutMs: options.callTimeoutMs ?? 60_000,
      peerGraceMs: options.peerGraceMs ?? 5_000,
      handshake: options.handshake ?? "on-demand",
      clientInfo: options.clientInfo ?? { name: "@mcpx/client", version: "0.1.0" },
      bufferMax: options.bufferMax ?? 1_000,
      isSecond: options.isSecond,
    },
    connection,
    events: new RoomEvents(),
    roster: new Roster(),
    calls: new Calls(callsMax, options.isSecond !== undefined),
    tracker: new ProposalTracker(),
    receivers: new Set(),
    handshakes: new Map(),
    graces: new Map(),
    served: undefined,
    callSelf: undefined,
    key: signerIn(options),
    connectionId: "",
    id: "",
    level: "restricted",
    recent: [],
    hasHistory: true,
    clockOffsetMs: 0,
  };
  parts.tracking = new ProposalTracking(parts.core);
  return { ...parts, welcomed: welcome.promise };
}

function connectionOptions(options: JoinOptions & Required<Pick<JoinOptions, "protocol">>) {
  const { topic, protocol, id, history = 100, joinTimeoutMs = 10_000 } = options;
  return {
    transport: gatewayTransport(options),
    topic,
    protocol,
    history,
    id,
    backoff: { minMs: 200, maxMs: 15_000, ...options.backoff },
    joinTimeoutMs,
    connectTimeoutMs: Math.min(joinTimeoutMs, 10_000),
    silenceMs: options.silenceMs ?? 60_000,
    ackTimeoutMs: options.ackTimeoutMs ?? 15_000,
  };
}

function handlersFor(
  parts: Pick<RoomParts, "core" | "tracking">,
  welcome: PromiseWithResolvers<void>,
  options: JoinOptions,
): ConnectionHandlers {
  return {
    welcomed: (welcomed) => {
      const { core, tracking } = parts;
      const isFirst = core.id === "";
      if (!isFirst && welcomed.id !== core.id) {
        // Everything here was done in another name.
        const error = new RoomError("identity_change", `the new token is for ${welcomed.id}`);
        void core.connection.close(error);
        return;
      }
      takeWelcome(core, welcomed);
      if (isFirst) tracking.remember(welcomed.recent);
      else showKey(core, options)?.catch((error: unknown) => core.events.emit("error", asError(error)));
      welcome.resolve();
    },
    envelope: (envelope) => {
      parts.tracking.observe(envelope);
      route(parts.core, envelope);
    },
    notice: (envelope) => takeNotice(parts.core, envelope),
    gap: (gap) => {
      parts.core.calls.failAll(lostInGap(), ({ isPublished }) => isPublished);
      parts.core.events.emit("gap", gap);
    },
    error: (error) => parts.core.events.emit("error", error),
    tokenExpiring: () => void refresh(parts.core, true),
    probe: () => void refresh(parts.core, false),
    state: (state, reason) => {
      const { core, tracking } = parts;
      if (state === "closed") dissolve(core, tracking, welcome.reject);
      core.events.emit("state", { state, reason });
      if (state === "closed") core.events.close();
    },
  };
}

/** A connection knows no key until it is shown one. */
export function showKey(core: RoomCore, { key }: JoinOptions): Promise<unknown> | undefined {
  const jwk = core.key?.jwk ?? key;
  return jwk && publish(core, { kind: "system", payload: { type: "key", jwk } });
}

function signerIn({ key }: JoinOptions): AccessKey | undefined {
  return typeof key?.sign === "function" ? (key as AccessKey) : undefined;
}

/** A new token before the old one ends; or the old one again, to hear whether the gateway is there. */
async function refresh(core: RoomCore, isNew: boolean): Promise<void> {
  const { tokens } = core.connection.options.transport;
  if (tokens === undefined || (isNew && !tokens.isRenewable)) return;
  try {
    const token = await (isNew ? tokens.renew() : tokens.current());
    await publish(core, { kind: "system", payload: { type: "refresh", token } }, { isPassing: true });
  } catch (error) {
    if (isNew) core.events.emit("error", asError(error));
  }
}

/** The room is over: everything that waits is told so, nothing ticks on. */
function dissolve(core: RoomCore, tracking: ProposalTracking, reject: (error: Error) => void): void {
  const error: Error = core.connection.signal.reason;
  reject(error);
  core.calls.failAll(error);
  for (const timer of core.graces.values()) clearTimeout(timer);
  core.graces.clear();
  tracking.close();
  for (const receiver of [...core.receivers]) receiver.ended(undefined);
  core.served?.ended(undefined);
}
