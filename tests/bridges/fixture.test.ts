// The engine with a strict platform in memory.
import {
  createFixturePlatform,
  fixtureChannel,
} from "../../packages/bridges/src/testing/fixture-platform.ts";
import { type PlatformBench, platformCases } from "./support/platform-cases.ts";

platformCases("[X0-14.4-1]", async (): Promise<PlatformBench> => {
  const fixture = createFixturePlatform();
  return {
    kind: "xmpp",
    channel: fixtureChannel,
    open: fixture.open,
    person: async (name) => ({
      key: `${name}@example.org`,
      say: (text) => fixture.say(`${name}@example.org`, text),
      tell: (text) => fixture.say(`${name}@example.org`, text, { channel: "" }),
      press: (verb, card) => fixture.press(`${name}@example.org`, verb, card),
      heard: () =>
        fixture.whispers.filter(({ user }) => user === `${name}@example.org`).map(({ text }) => text),
    }),
    shown: () =>
      fixture.posts.map(({ text, post }) => ({
        text,
        card: post.buttons[0]?.card,
        verbs: post.buttons.map(({ verb }) => verb),
        links: post.link === undefined ? [] : [post.link.url],
      })),
    cut: async (isDown) => {
      fixture.trouble = isDown ? "down" : "none";
    },
  };
});
