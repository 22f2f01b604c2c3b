// What other gateways may ask of this one, and what they say of connections: of those that begin there and end here, and
// of those that begin here and end there.
import type { PeerHandler, PeerLink } from "@mcpx/host";
import { isObject, McpxError } from "@mcpx/protocol";
import { connectionsHere } from "../admin/connections.ts";
import { liveLevelHere } from "../admin/decide-level.ts";
import type { Edge, RemoteJoin } from "../cluster/edge.ts";
import { participantsHere } from "../rest/participants.ts";
import { countsHere } from "../rest/topics.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { firstOwnerKind } from "../transports/peer-frames.ts";
import { createEdges } from "./serve-edges.ts";

export function createPeerAnswers(gateway: Gateway, edge: Edge): PeerHandler {
  const edges = createEdges(gateway);

  async function answer(link: PeerLink, verb: string, body: unknown): Promise<unknown> {
    switch (verb) {
      case "room.join":
        return edges.join(link, body as RemoteJoin);
      case "room.participants":
        return participantsHere(gateway, textOf(body, "topic"));
      case "rooms.counts":
        return countsHere(gateway);
      case "connections":
        return connectionsHere(gateway);
      case "participant.level":
        return liveLevelHere(gateway, textOf(body, "id"), optionalTextOf(body, "topic"));
      case "news":
        return takeNews(gateway, body);
      case "ticket.redeem":
        return gateway.identity.tickets.redeem(textOf(body, "ticket"), textOf(body, "topic"));
      default:
        throw new McpxError("not_found", `this gateway does not answer to ${verb}`);
    }
  }

  return {
    answer,
    take(link, kind, message) {
      if (kind < firstOwnerKind) edges.take(link, kind, message);
      else edge.take(link, kind, message);
    },
  };
}

function takeNews({ news }: Gateway, body: unknown): unknown {
  const { seq } = body as { seq: unknown };
  if (!Number.isSafeInteger(seq)) throw new McpxError("bad_request", "seq must be a whole number");
  return news?.take(seq as number, textOf(body, "kind"), (body as { body: unknown }).body);
}

function optionalTextOf(body: unknown, name: string): string | undefined {
  return isObject(body) && body[name] === undefined ? undefined : textOf(body, name);
}

function textOf(body: unknown, name: string): string {
  const value = isObject(body) ? body[name] : undefined;
  if (typeof value === "string") return value;
  throw new McpxError("bad_request", `${name} must be a string`);
}
