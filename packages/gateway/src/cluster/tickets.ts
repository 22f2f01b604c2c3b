// Tickets are in the memory of the gateway that gave them out; where there are several, a ticket begins with its number.
import type { Principal } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";

export function issueTicketHere({ identity, neighbours }: Gateway, principal: Principal, topic: string) {
  const { ticket, expiresAt } = identity.tickets.issue(principal, topic);
  return { ticket: neighbours === undefined ? ticket : `${neighbours.number()}.${ticket}`, expiresAt };
}

export async function redeemTicket(
  { identity, neighbours }: Gateway,
  given: string,
  topic: string,
): Promise<Principal> {
  if (neighbours === undefined) return identity.tickets.redeem(given, topic);
  const [, number, ticket] = /^(\d{1,15})\.([\w-]{1,128})$/.exec(given) ?? [];
  if (number === undefined || ticket === undefined) throw new McpxError("ticket_invalid");
  if (Number(number) === neighbours.number()) return identity.tickets.redeem(ticket, topic);
  const link = await neighbours.linkTo(Number(number)).catch(() => undefined);
  // Its gateway is gone, and the ticket with it.
  if (link === undefined) throw new McpxError("ticket_invalid");
  return (await link.ask("ticket.redeem", { ticket, topic })) as Principal;
}
