// Links a person on the platform to a participant by a code that counts once; and ends it at their word.
import { createHash } from "node:crypto";
import type { Level } from "@mcpx/protocol";
import type { Said } from "../platform.ts";
import type { BridgeStore } from "../store/bridge-store.ts";
import { newId } from "../store/new-id.ts";
import type { BridgeCore } from "./bridge-core.ts";
import { whisper } from "./whisper.ts";

const codeShape = /^link[ \t]+([0-9a-z]{5}-?[0-9a-z]{5})$/i;
const codeMs = 600_000;
const guessesMax = 5;
const guessWindowMs = 600_000;
const guessersMax = 1_000;

export interface CodeWish {
  bridge: string;
  participant: string;
  level?: Level | undefined;
}

/** For one person, once, within ten minutes; `undefined` where too many wait. Only its hash is kept. */
export async function issueCode(
  store: Pick<BridgeStore, "addCode">,
  { bridge, participant, level }: CodeWish,
  now: number,
): Promise<{ code: string; expiresAt: number } | undefined> {
  const code = newId(10);
  const expiresAt = now + codeMs;
  const isKept = await store.addCode(
    { hash: hashOf(bridge, code), bridge, participant, level, expiresAt },
    now,
  );
  return isKept ? { code: `${code.slice(0, 5)}-${code.slice(5)}`, expiresAt } : undefined;
}

/** Whether it was about linking: such words never reach a room. */
export async function takeLinkWords(core: BridgeCore, said: Said): Promise<boolean> {
  const words = said.text.trim();
  if (/^unlink$/i.test(words)) await unlink(core, said);
  else if (codeShape.test(words)) await link(core, said, codeShape.exec(words)?.[1] ?? "");
  else return false;
  return true;
}

async function link(core: BridgeCore, { user, channel }: Said, typed: string): Promise<void> {
  const { store, name, log } = core.options;
  const now = core.now();
  if (guessesOf(core, user.key, now).length >= guessesMax) {
    return whisper(core, user, channel, "Too many wrong codes. Wait ten minutes, then ask for a new code.");
  }
  const before = await store.linkOf(name, user.key);
  const made = await store.redeem(name, hashOf(name, typed.toLowerCase().replace("-", "")), user.key, now);
  if (made === undefined) {
    noteGuess(core, user.key, now);
    return whisper(core, user, channel, "This code is not valid. Ask the operator for a new code.");
  }
  if (before !== undefined) core.roomConnections.leave(before.id);
  core.guesses.delete(user.key);
  log.info({ bridge: name, user: user.key, participant: made.participant }, "person linked");
  await whisper(
    core,
    user,
    channel,
    `You are ${made.participant} here from now on. Write unlink to end that.`,
  );
}

async function unlink(core: BridgeCore, { user, channel }: Said): Promise<void> {
  const { store, name, log } = core.options;
  const link = await store.unlink(name, user.key);
  if (link === undefined) return whisper(core, user, channel, "You are not linked.");
  core.roomConnections.leave(link.id);
  log.info({ bridge: name, user: user.key, participant: link.participant }, "person unlinked");
  await whisper(core, user, channel, `You are no longer ${link.participant} here.`);
}

function guessesOf({ guesses }: BridgeCore, user: string, now: number): number[] {
  return (guesses.get(user) ?? []).filter((at) => now - at < guessWindowMs);
}

function noteGuess(core: BridgeCore, user: string, now: number): void {
  const own = guessesOf(core, user, now);
  if (!core.guesses.has(user) && core.guesses.size >= guessersMax) {
    const oldest = core.guesses.keys().next().value;
    if (oldest !== undefined) core.guesses.delete(oldest);
  }
  core.guesses.set(user, [...own, now]);
}

function hashOf(bridge: string, code: string): string {
  return createHash("sha256")
    .update(JSON.stringify([bridge, code]))
    .digest("hex");
}
