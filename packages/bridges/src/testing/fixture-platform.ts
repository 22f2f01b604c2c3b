// A chat platform in memory, strict about its rules: unknown channels and posts, doubled buttons, posts that are too long
// or come too fast, edits of what is gone. What a test sees is what a person would.
import {
  type Platform,
  type PlatformAbilities,
  PlatformError,
  type PlatformEvents,
  type Verb,
} from "../platform.ts";
import { charsOf, type Post, plainText } from "../text/post.ts";

export interface FixturePlatform {
  /** The platform's own side stays when the bridge restarts. */
  open(): Platform;
  readonly posts: { ref: string; channel: string; post: Post; text: string; edits: number }[];
  readonly whispers: { user: string; text: string }[];
  say(
    user: string,
    text: string,
    more?: { id?: string; channel?: string | undefined; name?: string; isEdit?: boolean },
  ): Promise<void>;
  press(user: string, verb: Verb, card: string, channel?: string): Promise<void>;
  /** What is wrong with the platform now. */
  trouble: "none" | "down" | "busy";
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
  const check = (channel: string, post: Post) => {
    if (fixture.trouble !== "none") fixture.refused += 1;
    if (fixture.trouble === "down") throw new PlatformError("down", "the platform is down");
    if (fixture.trouble === "busy")
      throw new PlatformError("busy", "too many requests", { retryAfterMs: 20 });
    if (channel !== fixtureChannel && channel !== otherChannel)
      throw new PlatformError("refused", `there is no channel ${channel}`);
    if (charsOf(post) > can.charsMax) throw new PlatformError("refused", "the post is too long");
    const verbs = post.buttons.map(({ verb, card }) => `${verb} ${card}`);
    if (new Set(verbs).size !== verbs.length) throw new PlatformError("refused", "a button is there twice");
    if (verbs.length > 0 && !can.buttons) throw new PlatformError("refused", "there are no buttons here");
  };
  const fixture: FixturePlatform = {
    posts: [],
    whispers: [],
    trouble: "none",
    refused: 0,
    open: () => ({
      can,
      async start(given) {
        if (fixture.trouble === "down") throw new PlatformError("down", "the platform is down");
        events = given;
      },
      async post(channel, post) {
        check(channel, post);
        count += 1;
        fixture.posts.push({ ref: `m${count}`, channel, post, text: plainText(post), edits: 0 });
        return `m${count}`;
      },
      async edit(channel, ref, post) {
        check(channel, post);
        if (can.edits !== "in place") throw new PlatformError("refused", "there are no edits here");
        const found = fixture.posts.find((one) => one.ref === ref);
        if (found === undefined) throw new PlatformError("refused", `there is no post ${ref}`);
        Object.assign(found, { post, text: plainText(post), edits: found.edits + 1 });
      },
      async whisper({ key }, _channel, text) {
        fixture.whispers.push({ user: key, text });
      },
      async close() {
        events = undefined;
      },
    }),
    async say(user, text, { id, channel = fixtureChannel, name, isEdit } = {}) {
      count += 1;
      const said = { channel: channel === "" ? undefined : channel, user: { key: user, name }, text };
      await events?.said({ ...said, id: id ?? `u${count}`, ...(isEdit && { isEdit }) });
    },
    async press(user, verb, card, channel = fixtureChannel) {
      await events?.pressed({ channel, user: { key: user }, card, verb });
    },
  };
  return fixture;
}
