// Which message of the platform is which envelope of the room, so that an answer to the one is an answer to the other.
import { PlatformError, type Said } from "../platform.ts";
import type { KeptMessage, MessagePlace } from "../store/bridge-store.ts";
import { cut, type Post } from "../text/post.ts";
import type { BridgeCore, Channel } from "./bridge-core.ts";
import { send } from "./send.ts";

const quoteCharsMax = 200;

export interface Heard {
  readonly text: string;
  /** The envelope it answers. */
  readonly answers: string | undefined;
}

/** What was said, and to what; where that is not known here, with the platform's quote of it before the words. */
export async function heardReply(core: BridgeCore, channel: Channel, said: Said): Promise<Heard> {
  const parent = await kept(core, channel, said.replyTo?.message);
  if (said.isEdit) {
    const original = await kept(core, channel, said.ref && nameOf(said.ref));
    return { text: `(edited) ${said.text}`, answers: original?.answers ?? parent?.envelope };
  }
  const quote = parent === undefined ? said.replyTo?.text?.trim().replace(/\s+/g, " ") : undefined;
  if (!quote) return { text: said.text, answers: parent?.envelope };
  const end = quote.length > quoteCharsMax ? "…" : "";
  return { text: `> ${cut(quote, quoteCharsMax)}${end}\n\n${said.text}`, answers: undefined };
}

/** An edit is another envelope of the same message: answers go to the first. */
export async function keepSaid(
  core: BridgeCore,
  channel: Channel,
  { ref, isEdit }: Said,
  { envelope, answers }: { envelope: string; answers: string | undefined },
): Promise<void> {
  if (ref === undefined || isEdit) return;
  await keep(core, channel, { message: nameOf(ref), ref, envelope, answers });
}

/** The post of an envelope, as a reply where the platform has what it answers. */
export async function sendReply(
  core: BridgeCore,
  channel: Channel,
  { post, key, answers }: { post: Post; key: string; answers: string | undefined },
): Promise<string | undefined> {
  const { store, platform } = core.options;
  const known = answers === undefined ? undefined : await store.messageOf(placeOf(core, channel), answers);
  let replyTo = known?.ref;
  return send(core, channel, async () => {
    try {
      return await platform.post(channel.id, post, key, replyTo);
    } catch (error) {
      const isRefused = error instanceof PlatformError && error.fault === "refused";
      if (replyTo === undefined || !isRefused) throw error;
      // Deleted there, or closed: the words are worth more than their place.
      replyTo = undefined;
      return platform.post(channel.id, post, key);
    }
  });
}

export function keepPost(core: BridgeCore, channel: Channel, ref: string, envelope: string): Promise<void> {
  return keep(core, channel, { message: nameOf(ref), ref, envelope });
}

function keep(core: BridgeCore, channel: Channel, message: KeptMessage): Promise<void> {
  return core.options.store.keepMessage(placeOf(core, channel), message);
}

async function kept(core: BridgeCore, channel: Channel, message: string | undefined) {
  return message ? core.options.store.messageNamed(placeOf(core, channel), message) : undefined;
}

/** The room too: a channel that carries another one now answers nothing of the old one. */
function placeOf({ options }: BridgeCore, { id, topic }: Channel): MessagePlace {
  return { bridge: options.name, channel: id, topic };
}

function nameOf(ref: string): string {
  return ref.split(" ", 1)[0] ?? ref;
}
