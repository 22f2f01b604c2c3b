// Who was behind an envelope to a participant that serves, as they were when it was published: what they do after that,
// such as leaving with the narrower of their connections, changes nothing of it. [B-TREE-1]
import type { Principal } from "@mcpx/host";
import type { Envelope } from "@mcpx/protocol";
import type { Gateway } from "./gateway-state.ts";
import type { Member, Room } from "./room.ts";

export interface Sender {
  id: string;
  /** Of every connection they had to the room. */
  principals: readonly Principal[];
}

/** More than can be on their way at one time; who is forgotten may do nothing. */
const sendersMax = 4_096;

/** Made in this process, to answer others: their rates are its rate. */
export function isServing(
  { options }: Pick<Gateway, "options">,
  { participant, principal }: Pick<Member, "participant" | "principal">,
): boolean {
  return principal.tokenHash === "" && options.servingIds.includes(participant.id);
}

/** Of every connection a participant has, with the key it has shown there. */
export function principalsIn(room: Room | undefined, id: string): Principal[] {
  return [...(room?.members.values() ?? [])]
    .filter(({ participant, hasLeft }) => participant.id === id && !hasLeft)
    .map(({ principal, participant }) => ({ ...principal, key: principal.key ?? participant.key }));
}

/** Asked before anything is waited for. Only what somebody who serves is to get has one. */
export function senderNow(
  { options }: Gateway,
  { room, participant }: Member,
  { to }: Envelope,
): Sender | undefined {
  if (room.senders === undefined || !to.some((id) => options.servingIds.includes(id))) return undefined;
  return { id: participant.id, principals: principalsIn(room, participant.id) };
}

export function rememberSender({ senders }: Room, envelopeId: string, sender: Sender): void {
  if (senders === undefined) return;
  senders.set(envelopeId, sender);
  const [oldest] = senders.keys();
  if (senders.size > sendersMax && oldest !== undefined) senders.delete(oldest);
}

/** Nobody where that is not known, or a token of theirs was revoked since. */
export function sendersOf(
  { rooms, identity }: Gateway,
  topic: string,
  id: string,
  envelopeId: string,
): readonly Principal[] {
  const sender = rooms.get(topic)?.senders?.get(envelopeId);
  if (sender?.id !== id) return [];
  const isRevoked = sender.principals.some(({ jti }) => identity.revocations.isRevoked(jti));
  return isRevoked ? [] : sender.principals;
}
