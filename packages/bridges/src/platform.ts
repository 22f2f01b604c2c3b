// What the engine knows of a chat platform. Each platform is one file in `platforms/`, and passes the cases in
// `tests/bridges/support/platform-cases.ts`.
import type { Post } from "./text/post.ts";

/** A person on the platform, as the platform itself has authenticated them; never as a message claims. */
export interface PlatformUser {
  /** What the platform never gives to anybody else: a bare JID, a team and user id. */
  readonly key: string;
  /** For display only: everybody chooses their own. */
  readonly name?: string | undefined;
}

export interface Said {
  /** Undefined where it was said to the bridge in private. */
  readonly channel: string | undefined;
  readonly user: PlatformUser;
  /** The platform's id of the message. The same message delivered twice has the same id. */
  readonly id: string;
  readonly text: string;
  /** It replaces an earlier message of the same person. */
  readonly isEdit?: boolean;
  /** What `post` would have called it; of an edit, the message it replaces. */
  readonly ref?: string | undefined;
  readonly replyTo?: ReplyTo | undefined;
  /** Where it stands in its channel, for `missed`; opaque to the engine. */
  readonly at?: string | undefined;
}

/** Messages of a channel, oldest first. */
export interface MissedPage {
  readonly said: readonly Said[];
  /** Where the page ends; undefined where the channel never had a message. */
  readonly at: string | undefined;
  readonly isMore: boolean;
  /** There were too many: the platform's file leaves out those before. */
  readonly leftOut?: LeftOut | undefined;
}

export interface LeftOut {
  readonly count: number;
  /** There are more than were counted. */
  readonly isUncounted: boolean;
}

/** What a message answers. Only the same channel counts; what it was said to be is not believed. */
export interface ReplyTo {
  /** The first word of that message's ref. */
  readonly message: string;
  /** What it said, where the platform tells. */
  readonly text?: string | undefined;
}

export type Verb = "approve" | "reject";

export interface Press {
  readonly channel: string;
  readonly user: PlatformUser;
  /** What the button carries; nothing else of the event says what is decided. */
  readonly card: string;
  readonly verb: Verb;
  readonly reason?: string | undefined;
}

export interface PlatformEvents {
  said(said: Said): Promise<void>;
  pressed(press: Press): Promise<void>;
  /** Something from the platform could not be taken and is lost: it is logged. */
  failed(error: unknown): void;
  /** Nothing is heard of the platform until `found`; the reason is logged and shown. */
  lost(error: unknown): void;
  found(): void;
}

export interface PlatformAbilities {
  /** Without buttons, cards say which words decide: `approve CARD`. */
  readonly buttons: boolean;
  /** `never`: the platform only notifies, and is not told how a proposal ended. */
  readonly edits: "in place" | "by post" | "never";
  /** `cards`: chat stays in the room. */
  readonly carries: "everything" | "cards";
  readonly charsMax: number;
  /** How often a channel may be posted to. */
  readonly pace: { readonly perSecond: number; readonly burst: number };
}

export interface Platform {
  readonly can: PlatformAbilities;
  /** Resolves when the platform is reached for the first time. Called once. */
  start(events: PlatformEvents): Promise<void>;
  /**
   * Resolves with the platform's name for the post, its ref: the word by which replies name it, and behind a space what
   * else the platform's file wants to know of it. `key` is the same when the same post is tried again. `replyTo`: the ref
   * of the message that it answers; platforms without replies leave it out.
   */
  post(channel: string, post: Post, key: string, replyTo?: string): Promise<string>;
  edit(channel: string, ref: string, post: Post): Promise<void>;
  /**
   * What was said in a channel after a place, where the platform keeps it; with no place, nothing but where the channel
   * is now. Left out where the platform itself brings again what was not taken.
   */
  missed?(channel: string, since: string | undefined): Promise<MissedPage>;
  /** Only this person sees it. */
  whisper(user: PlatformUser, channel: string | undefined, text: string): Promise<void>;
  close(): Promise<void>;
}

type PlatformFault = "busy" | "down" | "refused";

/** `busy` and `down` are tried again; `refused` never will work: the channel or the message is gone. */
export class PlatformError extends Error {
  readonly fault: PlatformFault;
  readonly retryAfterMs: number | undefined;
  /** Of an HTTP answer, where that was the fault. */
  readonly status: number | undefined;

  constructor(
    fault: PlatformFault,
    message: string,
    options: { retryAfterMs?: number; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "PlatformError";
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}
