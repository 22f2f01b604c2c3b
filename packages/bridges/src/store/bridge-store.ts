// What a bridge remembers over restarts: links, codes, cards, positions. Every method is durable when it resolves.
// Siblings: `store-memory.ts`, `store-sqlite.ts`; `store-cases.ts` is what both must do.
import type { Level } from "@mcpx/protocol";

/** A person on the platform who speaks as a participant. */
export interface Link {
  readonly id: string;
  readonly bridge: string;
  readonly user: string;
  readonly participant: string;
  /** The level the operator gave with the link; the gateway has the last word. */
  readonly level?: Level | undefined;
  readonly at: number;
}

export interface NewCode {
  readonly hash: string;
  readonly bridge: string;
  readonly participant: string;
  readonly level?: Level | undefined;
  readonly expiresAt: number;
}

export interface Card {
  readonly id: string;
  readonly bridge: string;
  readonly channel: string;
  readonly proposal: string;
  /** The `seq` of the proposal in its room. */
  readonly seq: number;
  readonly expiresAt: number;
  /** The platform's name for the post; undefined until it was posted. */
  readonly ref?: string | undefined;
  /** Who is approving, or has approved. */
  readonly claimedBy?: string | undefined;
  /** Nothing more will happen to it. */
  readonly isClosed: boolean;
}

export interface Position {
  readonly epoch: string;
  readonly seq: number;
}

export interface MessagePlace {
  readonly bridge: string;
  readonly channel: string;
  readonly topic: string;
}

/** A message of the platform, and the envelope of the room that it is. */
export interface KeptMessage {
  /** The id by which replies refer to the post. */
  readonly message: string;
  /** What the platform's file called it. */
  readonly ref: string;
  readonly envelope: string;
  /** The envelope it answers. */
  readonly answers?: string | undefined;
}

export interface BridgeStore {
  addCode(code: NewCode, now: number): Promise<boolean>;
  /** Spends the code and makes the link, both or neither. A link the user had before is replaced. */
  redeem(bridge: string, hash: string, user: string, now: number): Promise<Link | undefined>;
  linkOf(bridge: string, user: string): Promise<Link | undefined>;
  links(bridge: string): Promise<Link[]>;
  /** The link that was there. */
  unlink(bridge: string, user: string): Promise<Link | undefined>;
  position(bridge: string, channel: string): Promise<Position | undefined>;
  setPosition(bridge: string, channel: string, position: Position): Promise<void>;
  /** Up to where a channel was heard, in the platform's own words. */
  heard(bridge: string, channel: string): Promise<string | undefined>;
  setHeard(bridge: string, channel: string, at: string): Promise<void>;
  /** The card of that proposal in that channel, made where there is none. */
  cardFor(card: Omit<Card, "ref" | "claimedBy" | "isClosed">): Promise<Card>;
  card(id: string): Promise<Card | undefined>;
  openCards(bridge: string, channel: string): Promise<Card[]>;
  setRef(id: string, ref: string): Promise<void>;
  /** True for the first who claims an open card, and for nobody else until it is released. */
  claim(id: string, participant: string): Promise<boolean>;
  release(id: string): Promise<void>;
  closeCard(id: string): Promise<void>;
  /** A message that is known already stays what it was. The oldest of a channel give way. */
  keepMessage(place: MessagePlace, message: KeptMessage): Promise<void>;
  messageNamed(place: MessagePlace, message: string): Promise<KeptMessage | undefined>;
  messageOf(place: MessagePlace, envelope: string): Promise<KeptMessage | undefined>;
  /** Cards that ended before then, and codes. */
  forget(before: number): Promise<void>;
  /** Everything of a bridge that is no more. */
  removeBridge(bridge: string): Promise<void>;
}

/** Codes that wait to be redeemed, in all of a bridge. */
export const codesMax = 100;

/** Messages that can be answered, in each channel. */
export const messagesMax = 1_000;
