// Decides who comes in, before the handshake is answered: nothing unauthenticated ever holds a room's connection.
import { mayEnter, type Principal, principalOf, type UpgradeRequest } from "@mcpx/host";
import {
  isId,
  isProtocol,
  isReservedId,
  type Level,
  McpxError,
  type Protocol,
  protocols,
} from "@mcpx/protocol";
import { redeemTicket } from "../cluster/tickets.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { asserterOf } from "../room/known-participants.ts";
import { levelFor } from "../room/level-for.ts";
import type { Participant } from "../room/room.ts";

export interface Admission {
  principal: Principal;
  participant: Participant;
  topic: string;
  level: Level;
  protocol: Protocol;
  isProtocolFixed: boolean;
  /** To be echoed in the handshake. */
  subprotocol: string | undefined;
  wantsSeq: boolean;
  wantsEcho: boolean;
  /** Made in this process, beside the participant's own socket. */
  isVirtual: boolean;
  historyCount: number;
  resume: { epoch: string; seq: number } | undefined;
}

/** A `/` may not stand in a WebSocket subprotocol, so it becomes a dot there. */
const subprotocols: Readonly<Record<string, Protocol>> = { "mcpx.v0.1": "mcpx/v0.1", "mcp-x.v0": "mcp-x/v0" };

/** What the address asks for, before it is known who asks. */
export type Wishes = Omit<Admission, "principal" | "participant" | "level" | "isVirtual">;

export function readWishes({ limits }: Gateway, query: URLSearchParams, offered: string | undefined): Wishes {
  checkGivenOnce(query);
  return {
    topic: readTopic(query.get("topic")),
    ...readProtocol(query.get("protocol"), offered),
    wantsSeq: readFlag(query, "seq"),
    wantsEcho: readFlag(query, "echo"),
    historyCount: readHistory(query.get("history"), limits.historyPageMax),
    resume: readResume(query.get("resume")),
  };
}

/** Whether somebody known comes in, as whom and with which level. */
export async function admit(
  gateway: Gateway,
  query: URLSearchParams,
  wishes: Wishes,
  principal: Principal,
): Promise<Omit<Admission, "isVirtual">> {
  const { topic } = wishes;
  const now = gateway.clock.monotonic();
  // What this process makes itself is not many who ask.
  if (principal.tokenHash !== "") gateway.handshakes.chargeOne(askerOf(principal), now);
  if (!mayEnter(principal, topic)) throw new McpxError("topic_forbidden");
  const participant = await describe(gateway, principal, query);
  const level = levelFor(gateway, principal, participant.id, topic);
  const owner = asserterOf(principal);
  const { key } = principal;
  if (owner !== undefined) await gateway.participants.checkAssertion(participant.id, { owner, key });
  if (key !== undefined) await gateway.participants.bindKey(participant.id, key, owner);
  // After it is known that it may: nobody else must be able to use up everybody's handshakes.
  gateway.handshakes.chargeAll(now);
  return { principal, participant, level, ...wishes };
}

/** Without a participant of its own a token is one. No id holds a `#`. */
function askerOf({ id, jti }: Principal): string {
  return id ?? `#${jti}`;
}

/** Which of two counts must not be a matter of taste, ours or a proxy's. */
function checkGivenOnce(query: URLSearchParams): void {
  const names = [...query.keys()];
  if (new Set(names).size !== names.length) throw new McpxError("bad_request", "a parameter is given twice");
}

/** A ticket or a bearer token, never both and never a default. [X0-5.1-1] */
export async function authenticate(
  gateway: Gateway,
  request: UpgradeRequest,
  topic: string,
): Promise<Principal> {
  const ticket = request.query.get("ticket");
  if (ticket === null) return principalOf(request, gateway.identity.tokens);
  if (request.headers.authorization !== undefined) {
    throw new McpxError("bad_request", "give a ticket or a token, not both");
  }
  const principal = await redeemTicket(gateway, ticket, topic);
  request.belongsTo(principal);
  return principal;
}

export function readTopic(topic: string | null): string {
  if (topic === null) throw new McpxError("bad_request", "the topic parameter is missing");
  if (!isId(topic)) {
    throw new McpxError(
      "bad_request",
      "topic must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / + - (write + as %2B)",
    );
  }
  return topic;
}

/** By `?protocol=` or by subprotocol; else the first envelope tells. [X0-10-1] */
function readProtocol(
  asked: string | null,
  offered: string | undefined,
): Pick<Admission, "protocol" | "isProtocolFixed" | "subprotocol"> {
  const offers = offered?.split(",").map((name) => name.trim()) ?? [];
  const known = offers.filter((name) => Object.hasOwn(subprotocols, name));
  // The parameter counts; a subprotocol that says the same is the one to answer with.
  const subprotocol = known.find((name) => subprotocols[name] === asked) ?? known[0];
  const unsupported = () => new McpxError("unsupported_protocol", `supported: ${protocols.join(", ")}`);
  if (asked !== null && !isProtocol(asked)) throw unsupported();
  if (offers.length > 0 && subprotocol === undefined) throw unsupported();
  const protocol = asked ?? (subprotocol === undefined ? undefined : subprotocols[subprotocol]);
  return { protocol: protocol ?? "mcpx/v0.1", isProtocolFixed: protocol !== undefined, subprotocol };
}

function readFlag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null || value === "0") return false;
  if (value === "1") return true;
  throw new McpxError("bad_request", `${name} must be 0 or 1`);
}

function readHistory(value: string | null, max: number): number {
  if (value === null) return 0;
  if (!/^\d{1,6}$/.test(value)) throw new McpxError("bad_request", "history must be a number");
  return Math.min(Number(value), max);
}

function readResume(value: string | null): Admission["resume"] {
  if (value === null) return undefined;
  const match = /^([A-Za-z0-9-]{1,64}):(\d{1,15})$/.exec(value);
  if (match === null) throw new McpxError("bad_request", "resume must be EPOCH:SEQ");
  return { epoch: match[1] as string, seq: Number(match[2]) };
}

/** Behind those no token stands: the tree, bridges, and people of chat platforms under their ids there. */
function isOwnId({ ownIds, ownPrefixes }: Gateway["options"], id: string): boolean {
  const lower = id.toLowerCase();
  return ownIds.includes(id) || ownPrefixes.some((prefix) => lower.startsWith(prefix));
}

/** Who joins. Only open mode lets a token without a subject choose its id, and none that a token names. [X0-4-7] */
async function describe(
  { options, identity }: Gateway,
  principal: Principal,
  query: URLSearchParams,
): Promise<Participant> {
  const asserted = query.get("id");
  const mayAssert = options.mode === "open" && principal.id === undefined;
  if (asserted !== null && !mayAssert && asserted !== principal.id) {
    throw new McpxError("bad_request", "the id comes from the token");
  }
  const id = principal.id ?? asserted;
  if (id === null) throw new McpxError("unauthorised", "the token names no participant");
  if (!isId(id) || isReservedId(id)) throw new McpxError("bad_request", "this id cannot be used");
  if (principal.tokenHash !== "" && isOwnId(options, id)) {
    throw new McpxError("bad_request", "this id is the gateway's own");
  }
  if (principal.id === undefined && (await identity.isOwned(id))) {
    throw new McpxError("bad_request", "this id belongs to somebody with a token of their own");
  }
  const mcp = query.get("mcp");
  if (mcp !== null && !/^\d{4}-\d{2}-\d{2}$/.test(mcp))
    throw new McpxError("bad_request", "mcp must be a revision date");
  return {
    id,
    ...(principal.name === undefined ? {} : { name: principal.name }),
    ...(principal.kind === undefined ? {} : { kind: principal.kind }),
    ...(options.ownIds.includes(id) ? { own: true } : {}),
    ...(mcp === null ? {} : { mcp: { version: mcp } }),
    ...(principal.key === undefined ? {} : { key: principal.key }),
  };
}
