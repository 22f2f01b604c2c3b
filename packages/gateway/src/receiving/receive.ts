// The corridor of an envelope: scan → read → rate, from → authorise → handler → log → deliver. One switch and one
// catch; two exits, an error envelope or a close code.
import { hash, randomUUID } from "node:crypto";
import {
  type Action,
  bodyText,
  type Envelope,
  McpxError,
  quoteShort,
  readEnvelope,
  relayText,
  type Scanned,
  scan,
} from "@mcpx/protocol";
import { announcePresence, announceSystem } from "../delivery/announce.ts";
import { single } from "../delivery/batch.ts";
import { changeLevel } from "../delivery/change-level.ts";
import { ackAgain, deliverByResuming, enqueue, wasNeverDelivered } from "../delivery/deliver.ts";
import { handOver } from "../delivery/hand-over.ts";
import { expelIfExpired } from "../delivery/leave.ts";
import { refuse } from "../delivery/refuse.ts";
import { isoTime, systemText } from "../delivery/system-envelope.ts";
import { handleChat } from "../handlers/chat.ts";
import { handleKey } from "../handlers/key.ts";
import { handleMcp } from "../handlers/mcp.ts";
import { handlePresenceStatus } from "../handlers/presence-status.ts";
import { handleProposal } from "../handlers/proposal.ts";
import { handleRefresh } from "../handlers/refresh.ts";
import { handleReject } from "../handlers/reject.ts";
import { handleStatus } from "../handlers/status.ts";
import { handleToolAccess } from "../handlers/tool-access.ts";
import { handleToolsRequest } from "../handlers/tools-request.ts";
import { handleWithdraw } from "../handlers/withdraw.ts";
import type { HandlerOutcome, Handling } from "../handling/handling.ts";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";
import { isServing, rememberSender, senderNow } from "../room/senders.ts";
import { recordDecision } from "./audit-proposals.ts";
import { actionOf, authorise } from "./authorise.ts";
import { giveBack, type Kept, keepInMemory } from "./backlog.ts";

/** Envelopes of one connection that may wait before its socket is no longer read. */
const waitingMax = 256;

/** Takes a frame's text; frames of one connection are handled in the order they came. */
export function receive(gateway: Gateway, member: Member, text: string): void {
  let kept: Kept;
  try {
    kept = keepInMemory(gateway, member, text.length);
  } catch (error) {
    // At once: to wait for its turn, it would have to be kept.
    if (!member.hasLeft) refuse(gateway, member, error, scannedIf(gateway, text));
    return;
  }
  inTurn(
    gateway,
    member,
    () => receiveNow(gateway, member, text, kept),
    () => giveBack(member, kept),
  );
}

function scannedIf({ limits }: Gateway, text: string): Scanned | undefined {
  try {
    return scan(text, limits);
  } catch {
    // What it is called cannot be read; the refusal says so by naming nothing.
    return undefined;
  }
}

/** Takes a frame that holds no envelope: its answer waits for those to the frames before it. */
export function receiveFault(gateway: Gateway, member: Member, fault: McpxError): void {
  inTurn(gateway, member, () => {
    refuse(gateway, member, fault, undefined);
    return undefined;
  });
}

/** Most work is done at once; what has to wait makes the frames behind it wait too. */
function inTurn(
  gateway: Gateway,
  member: Member,
  work: () => Promise<void> | undefined,
  done: () => void = () => {},
): void {
  const begin = () => (member.hasLeft ? undefined : work());
  const doing = member.waiting === 0 ? begin() : member.tail.then(begin);
  if (doing === undefined) {
    done();
    return;
  }
  member.waiting += 1;
  if (member.waiting === waitingMax) member.socket.pause();
  member.tail = doing.then(() => {
    done();
    member.waiting -= 1;
    if (member.waiting === waitingMax - 1 && !gateway.isDraining) member.socket.resume();
  });
}

/** Gives a promise only where a handler has to wait: at thousands a second each one would count. */
function receiveNow(gateway: Gateway, member: Member, text: string, kept: Kept): Promise<void> | undefined {
  if (expelIfExpired(gateway, member)) return undefined;
  const at = gateway.clock.now();
  let scanned: Scanned | undefined;
  try {
    scanned = scan(text, gateway.limits);
    const envelope = readEnvelope(scanned, gateway.limits, randomUUID);
    const { participant, level } = member;
    if (!member.isProtocolFixed) {
      member.protocol = envelope.protocol; // [X0-10-2]
      member.isProtocolFixed = true;
    }
    if (!isServing(gateway, member)) {
      gateway.rates.chargeEnvelope(participant.id, level, gateway.clock.monotonic());
    }
    if (envelope.from !== undefined && envelope.from !== participant.id) {
      throw new McpxError("wrong_from", `you are ${participant.id}`); // [X0-9-3]
    }
    const action = actionOf(envelope, gateway.options.compat.toolsRequest && level !== "full");
    const permission = authorise(gateway.levelTable, level, action);
    checkPayloadKeys(action, scanned);
    const outcome = handle(action, { gateway, member, envelope, permission });
    if (outcome instanceof Promise) {
      return outcome
        .then((late) => carryOut(gateway, member, { envelope, at, kept }, late))
        .catch((error: unknown) => refuse(gateway, member, error, envelope.scanned));
    }
    carryOut(gateway, member, { envelope, at, kept }, outcome);
  } catch (error) {
    refuse(gateway, member, error, scanned);
  }
  return undefined;
}

interface Received {
  envelope: Envelope;
  /** When it came, ms since 1970. */
  at: number;
  kept: Kept;
}

function carryOut(gateway: Gateway, member: Member, received: Received, outcome: HandlerOutcome): void {
  const { envelope } = received;
  // It may have been sent away meanwhile: nothing of it counts any more.
  if (member.hasLeft) return;
  gateway.metrics.received.inc({ kind: envelope.kind.kind });
  if (outcome.type === "publish")
    void publish(gateway, member, { ...received, envelope: correlated(envelope, outcome) });
  else finish(gateway, member, envelope, outcome);
}

function correlated(envelope: Envelope, { correlationId }: HandlerOutcome & { type: "publish" }): Envelope {
  return correlationId === undefined ? envelope : { ...envelope, correlationId };
}

/** Readers disagree on which of two counts: what a human approves would not be what a robot does. Chat is only read. */
function checkPayloadKeys(action: Action, { payloadDuplicate }: Scanned): void {
  if (action === "chat" || payloadDuplicate === undefined) return;
  throw new McpxError("duplicate_key", `${quoteShort(payloadDuplicate)} occurs twice in payload`);
}

function handle(action: Action, handling: Handling): HandlerOutcome | Promise<HandlerOutcome> {
  switch (action) {
    case "mcp.request":
    case "mcp.notification":
    case "mcp.response":
      return handleMcp(handling);
    case "proposal":
      return handleProposal(handling);
    case "tools_request":
      return handleToolsRequest(handling);
    case "chat":
      return handleChat(handling);
    case "withdraw":
      return handleWithdraw(handling);
    case "reject":
      return handleReject(handling);
    case "status":
      return handleStatus(handling);
    case "system.tool_access_policy":
    case "system.capability_revoked":
      return handleToolAccess(handling);
    case "system.refresh":
      return handleRefresh(handling);
    case "system.key":
      return handleKey(handling);
    case "system.presence_status":
      return handlePresenceStatus(handling);
  }
}

/**
 * Commit, then deliver. Not waited for: the log keeps the order, and a sender's next envelope may join this one's
 * commit.
 */
async function publish(gateway: Gateway, member: Member, { envelope, at, kept }: Received): Promise<void> {
  const { room, participant } = member;
  const from = participant.id;
  const sender = senderNow(gateway, member, envelope);
  room.pending += 1;
  kept.users += 1;
  try {
    const entry = {
      topic: room.topic,
      id: envelope.id,
      from,
      at,
      digest: hash("sha256", bodyText(envelope), "base64url"),
      text: relayText(envelope, from, isoTime(at)),
    };
    const began = gateway.clock.monotonic();
    const appended = await room.log.append(entry);
    gateway.metrics.append.observe((gateway.clock.monotonic() - began) / 1000);
    if (appended.outcome === "fenced") {
      gateway.ownership?.lose(room.topic);
      handOver(gateway, room);
      return;
    }
    if (appended.outcome === "conflict") throw new McpxError("id_conflict", "the id is taken"); // [X0-4-3]
    const logged = { ...entry, seq: appended.seq, at: appended.at, by: member.key };
    const wasLost = appended.outcome === "duplicate" && wasNeverDelivered(room, logged.seq);
    // Only of the first: what was sent again is not done again.
    const isNew = appended.outcome === "appended" || wasLost;
    if (isNew && sender !== undefined) rememberSender(room, entry.id, sender);
    if (isNew) {
      recordDecision(gateway, member, {
        action: actionOf(envelope),
        envelope,
        seq: logged.seq,
        at: logged.at,
      });
      if (wasLost) deliverByResuming(gateway, room, logged.seq);
      else enqueue(gateway, room, logged);
    } else ackAgain(gateway, member, logged);
  } catch (error) {
    refuse(gateway, member, error, envelope.scanned);
  } finally {
    giveBack(member, kept);
    room.pending -= 1;
  }
}

function finish(
  gateway: Gateway,
  member: Member,
  envelope: Envelope,
  outcome: HandlerOutcome & { type: "done" },
): void {
  const { protocol, participant } = member;
  const now = gateway.clock.now();
  const ack = { event: "ack", id: envelope.id, at: isoTime(now), ...outcome.answer };
  member.socket.write(
    single(systemText({ protocol, to: participant.id, correlationId: envelope.id }, now, ack)),
  );
  if (outcome.level !== undefined) changeLevel(gateway, [member], outcome.level, "token");
  if (outcome.announcement !== undefined) announceSystem(gateway, member.room, outcome.announcement);
  if (outcome.isPresenceNews) announcePresence(gateway, member, "heartbeat");
}
