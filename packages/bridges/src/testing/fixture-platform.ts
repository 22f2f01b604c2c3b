// A chat platform in memory, strict about its rules: unknown channels and posts, doubled buttons, posts that are too long
// or come too fast, edits of what is gone. What a test sees is what a person would.
import {
  type Platform,
  type PlatformAbilities,
  PlatformError,
  type PlatformEvents,
  type ReplyTo,
  type Said,
  type Verb,
} from "../platform.ts";
import { charsOf, type Post, plainText } from "../text/post.ts";

export interface FixturePlatform {
  /** The platform's own side stays when the bridge restarts. */
  open(): Platform;
  readonly posts: {
    ref: string;
    channel: string;
    post: Post;
    text: string;
    edits: number;
    replyTo?: string;
  }[];
  /** What people said, by what it is called. */
  readonly said: Map<string, string>;
  /** Messages that are there no more. */
  readonly deleted: Set<string>;
  readonly whispers: { user: string; text: string }[];
  say(
    user: string,
    text: string,
    more?: {
      id?: string;
      channel?: string | undefined;
      name?: string;
      isEdit?: boolean;
      ref?: string;
      replyTo?: ReplyTo | undefined;
    },
  ): Promise<void>;
  press(user: string, verb: Verb, card: string, channel?: string): Promise<void>;
  /** What is wrong with the platform now. */
  trouble: "none" | "down" | "busy";
  /** How long it says to wait when it is busy. */
  retryAfterMs: number;
  /** How many requests it has refused. */
  refused: number;
}

export const fixtureChannel = "general";
export const otherChannel = "random";

export function createFixturePlatform(changed: Partial<PlatformAbilities> = {}): FixturePlatform {
  let events: PlatformEvents | undefined;
  let count = 0;
  const can: PlatformAbilities = {
    buttons: true,
    edits: "in place",
    carries: "everything",
    charsMax: 2_000,
    pace: { perSecond: 1_000, burst: 1_000 },
    ...changed,
  };
  const checkTrouble = () => {
    if (fixture.trouble !== "none") fixture.refused += 1;
    if (fixture.trouble === "down") throw new PlatformError("down", "the platform is down");
    if (fixture.trouble === "busy")
      throw new PlatformError("busy", "too many requests", { retryAfterMs: fixture.retryAfterMs });
  };
  const check = (channel: string, post: Post) => {
    checkTrouble();
    if (channel !== fixtureChannel && channel !== otherChannel)
      throw new PlatformError("refused", `there is no channel ${channel}`);
    if (charsOf(post) > can.charsMax) throw new PlatformError("refused", "the post is too long");
    const verbs = post.buttons.map(({ verb, card }) => `${verb} ${card}`);
    if (new Set(verbs).size !== verbs.length) throw new PlatformError("refused", "a button is there twice");
    if (verbs.length > 0 && !can.buttons) throw new PlatformError("refused", "there are no buttons here");
  };
  /** Of the channels, as the platform keeps it. */
  const history: (Said & { at: string })[] = [];
  let trouble: FixturePlatform["trouble"] = "none";
  const fixture: FixturePlatform = {
    posts: [],
    said: new Map(),
    deleted: new Set(),
    whispers: [],
    get trouble() {
      return trouble;
    },
    set trouble(next) {
      const before = trouble;
      trouble = next;
      if (next === "down") events?.lost(new PlatformError("down", "the platform is down"));
      else if (before === "down") events?.found();
    },
    retryAfterMs: 20,
    refused: 0,
    open: () => ({
      can,
      async start(given) {
        if (fixture.trouble === "down") throw new PlatformError("down", "the platform is down");
        events = given;
      },
      async post(channel, post, _key, replyTo) {
        check(channel, post);
        if (replyTo !== undefined && fixture.deleted.has(replyTo))
          throw new PlatformError("refused", `there is no message ${replyTo}`);
        count += 1;
        const reply = replyTo === undefined ? {} : { replyTo };
        fixture.posts.push({ ref: `m${count}`, channel, post, text: plainText(post), edits: 0, ...reply });
        return `m${count}`;
      },
      async edit(channel, ref, post) {
        check(channel, post);
        if (can.edits !== "in place") throw new PlatformError("refused", "there are no edits here");
        const found = fixture.posts.find((one) => one.ref === ref);
        if (found === undefined) throw new PlatformError("refused", `there is no post ${ref}`);
        Object.assign(found, { post, text: plainText(post), edits: found.edits + 1 });
      },
      async missed(channel, since) {
        if (fixture.trouble === "down") throw new PlatformError("down", "the platform is down");
        const here = history.filter((one) => one.channel === channel);
        const at = here.at(-1)?.at ?? since ?? "0";
        if (since === undefined) return { said: [], at, isMore: false };
        const later = here.filter((one) => Number(one.at) > Number(since));
        return { said: later.slice(0, 2), at: later[1]?.at ?? at, isMore: later.length > 2 };
      },
      async whisper({ key }, _channel, text) {
        checkTrouble();
        fixture.whispers.push({ user: key, text });
      },
      async close() {
        events = undefined;
      },
    }),
    async say(user, text, { id, channel = fixtureChannel, name, isEdit, ref, replyTo } = {}) {
      count += 1;
      const called = ref ?? id ?? `u${count}`;
      fixture.said.set(called, text);
      const at = isEdit === true || channel === "" ? {} : { at: String(count) };
      const said: Said = {
        ...{ channel: channel === "" ? undefined : channel, user: { key: user, name }, text },
        ...{ id: id ?? `u${count}`, ref: called, replyTo, ...at, ...(isEdit && { isEdit }) },
      };
      if (said.at !== undefined) history.push({ ...said, at: said.at });
      // A person who is not connected gets nothing.
      if (fixture.trouble !== "down") await events?.said(said);
    },
    async press(user, verb, card, channel = fixtureChannel) {
      await events?.pressed({ channel, user: { key: user }, card, verb });
    },
  };
  return fixture;
}
