// Whose presses of buttons count as approvals: approvers who are linked at a bridge, each signed for by an approver as an
// entry of the chain, together with what the bridge reaches and the key it brings their presses with. [B-BRIDGE-2]
import { createHmac, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import {
  type AuthorityChange,
  type AuthorityState,
  isSame,
  pressPlace,
  type SignedPress,
  signersOf,
} from "@mcpx/aggregator";
import type { Link } from "@mcpx/bridges";
import type { Identity } from "@mcpx/host";

export interface PressPlace {
  bridge: string;
  user: string;
  participant: string;
}

/** A key for each person, so that presses of two of them are two approvals; known to this data directory alone. */
export function keyOfPress(identity: Pick<Identity, "secret">, place: PressPlace): KeyObject {
  const { bridge, user, participant } = place;
  const seed = createHmac("sha256", identity.secret("bridge-presses"))
    .update(JSON.stringify([bridge, user, participant]))
    .digest();
  return createPrivateKey({ key: Buffer.concat([ed25519Head, seed]), format: "der", type: "pkcs8" });
}

/** A private Ed25519 key begins with this (RFC 8410); the seed follows. */
const ed25519Head = Buffer.from("302e020100300506032b657004220420", "hex");

/** What has to stand in the chain for presses of this person to count. */
export function signedPress(
  identity: Pick<Identity, "secret">,
  { kind, reach }: { kind: string; reach: string },
  place: PressPlace,
): SignedPress {
  const { x } = createPublicKey(keyOfPress(identity, place)).export({ format: "jwk" });
  return { platform: kind, at: reach, as: place.participant, jwk: { kty: "OKP", crv: "Ed25519", x } };
}

/** What an approver has to sign for presses of all approvers who are linked there now; the others' end. */
export function pressChanges(
  state: AuthorityState,
  identity: Pick<Identity, "secret">,
  bridge: { name: string; kind: string; reach: string },
  links: readonly Link[],
): AuthorityChange[] {
  const people = new Set(signersOf(state).map(({ name }) => name));
  const wanted = new Map<string, unknown>();
  for (const { user, participant } of links) {
    if (!people.has(participant)) continue;
    const place = { bridge: bridge.name, user, participant };
    wanted.set(pressPlace(bridge.name, user), signedPress(identity, bridge, place));
  }
  const gone = pressesOf(state, bridge.name).filter((key) => !wanted.has(key));
  return [
    ...[...wanted].filter(([key, value]) => !isSame(state.get(key), value)),
    ...gone.map((key): [string, unknown] => [key, null]),
  ].map(([key, value]) => ({ key, value }));
}

/** The people whose presses at this bridge an approver has signed for. */
export function pressesOf(state: AuthorityState, bridge: string): string[] {
  return [...state.keys()].filter((key) => key.startsWith(pressPlace(bridge, "")));
}
