// A code that links one person to a participant, on record: the person who writes it on the platform is that
// participant.
import { type BridgeStore, issueCode } from "@mcpx/bridges";
import type { Audit } from "@mcpx/host";
import { isId, isReservedId, type Level } from "@mcpx/protocol";
import { bridgePrefixes } from "./open-bridges.ts";

export interface CodeParts {
  store: BridgeStore;
  audit: Pick<Audit, "recordNow">;
  actor: string;
}

export interface CodeWish {
  bridge: string;
  participant: string;
  level?: Level | undefined;
}

/** Whether somebody may become this participant by a code. */
export function isLinkable(participant: string): boolean {
  const isOwn = bridgePrefixes.some((prefix) => participant.toLowerCase().startsWith(prefix));
  return isId(participant) && !isReservedId(participant) && !isOwn;
}

/** Of somebody who is linkable. Undefined where too many codes wait to be used. */
export async function makeCode(
  { store, audit, actor }: CodeParts,
  { bridge, participant, level }: CodeWish,
  now: number,
): Promise<{ code: string; expiresAt: number } | undefined> {
  const made = await issueCode(store, { bridge, participant, level }, now);
  if (made === undefined) return undefined;
  await audit.recordNow({ action: "bridge.code", actor, subject: participant, detail: { bridge, level } });
  return made;
}
