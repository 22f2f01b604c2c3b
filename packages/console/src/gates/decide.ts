// A person has decided: what has to be signed is signed at once; what is returned sends it where it counts.
import type { Decision, JsonObject } from "@mcpx/protocol";
import { createCell } from "../store/cell.ts";
import type { GateItem, Item, ProposalItem } from "../store/deck.ts";
import { loadKey, saveKey } from "../store/key-store.ts";
import { app } from "../store/page.ts";
import { passkeyObstacle, registerPasskey, waitsText } from "../store/passkeys.ts";
import { type BrowserKey, makeKey, type Signed, signWithKey, signWithPasskey } from "../store/proofs.ts";

/** This browser's own key, where it has one. */
export const browserKey = createCell<BrowserKey | undefined>(undefined);
loadKey().then(browserKey.set, () => undefined);

export type Signer = "passkey" | "key";

/** How this browser can sign: nothing where nobody here is an approver yet. */
export function signersOf(approvers: readonly JsonObject[], key: BrowserKey | undefined): Signer[] {
  const hasPasskeys = passkeyObstacle() === undefined && approvers.some(({ kind }) => kind === "passkey");
  const hasKey = key !== undefined && approvers.some(({ thumbprint }) => thumbprint === key.thumbprint);
  // A passkey asks for its owner each time; whatever runs in this browser could use the key.
  return [...(hasPasskeys ? (["passkey"] as const) : []), ...(hasKey ? (["key"] as const) : [])];
}

/** A key that cannot leave this browser becomes an approver's. */
export async function enrolKey(name: string): Promise<void> {
  const key = await makeKey(name);
  const { waits } = await app.api.call("POST", "/approvers", { name, jwk: key.jwk as JsonObject });
  await saveKey(key);
  browserKey.set(key);
  await app.gates.refresh();
  checkCounts(name, waits);
}

/** Asks for a finger or a PIN, here and now. */
export async function enrolPasskey(name: string): Promise<void> {
  const waits = await registerPasskey(app.api, name);
  await app.gates.refresh();
  checkCounts(name, waits);
}

/** An approver signs it first: the card is among what waits. */
function checkCounts(name: string, waits: unknown): void {
  if (waits === true) throw new Error(waitsText(name));
}

/** The name itself, else with something behind it. */
export function freeName(name: string, approvers: readonly JsonObject[]): string {
  const isTaken = approvers.some((one) => String(one.name).toLowerCase() === name.toLowerCase());
  return isTaken ? `${name}-${crypto.randomUUID().slice(0, 4)}` : name;
}

interface Decided {
  reason?: string;
  edited?: JsonObject;
  /** Who shall do it, where the proposal leaves it open. */
  target?: string | undefined;
  signer?: Signer | undefined;
}

export async function decide(item: Item, decision: Decision, more: Decided): Promise<Signed> {
  if (item.kind === "gate") return decideGate(item, decision, more.reason, more.signer);
  return () => decideProposal(item, decision, more);
}

async function decideProposal(
  { topic, proposal, target: only }: ProposalItem,
  decision: Decision,
  { reason = "", edited, target }: Decided,
): Promise<void> {
  const room = app.open(topic);
  if (decision === "approve") await room.approve(proposal, { edited, target: only ?? target });
  else await room.reject(proposal, reason);
}

async function decideGate(
  { gate }: GateItem,
  decision: Decision,
  reason: string | undefined,
  signer: Signer | undefined,
): Promise<Signed> {
  const key = browserKey.get();
  const why = reason === "" ? undefined : reason;
  const send =
    signer === "key" && key !== undefined
      ? await signWithKey(app.api, gate, key, decision, why)
      : await signWithPasskey(app.api, gate.terms, decision, why);
  return async () => {
    await send();
    await app.gates.reload(gate.id);
  };
}
