// The engine with a strict platform in memory.
import {
  createFixturePlatform,
  type FixturePlatform,
  fixtureChannel,
} from "../../packages/bridges/src/testing/fixture-platform.ts";
import { type PlatformBench, platformCases } from "./support/platform-cases.ts";

/** Posts and what people said. */
function namedIn({ posts, said }: FixturePlatform, text: string): string | undefined {
  const post = posts.find((one) => one.text.includes(text))?.ref;
  return post ?? [...said].find(([, words]) => words === text)?.[0];
}

platformCases("[X0-14.4-1]", async (): Promise<PlatformBench> => {
  const fixture = createFixturePlatform();
  return {
    kind: "xmpp",
    channel: fixtureChannel,
    open: fixture.open,
    person: async (name, shownAs = name) => ({
      key: `${name}@example.org`,
      say: (text) => fixture.say(`${name}@example.org`, text, { name: shownAs }),
      reply: (text, to) =>
        fixture.say(`${name}@example.org`, text, {
          replyTo: { message: namedIn(fixture, to) ?? "never-there" },
        }),
      edit: (from, to) =>
        fixture.say(`${name}@example.org`, to, { isEdit: true, ref: namedIn(fixture, from) ?? "" }),
      tell: (text) => fixture.say(`${name}@example.org`, text, { channel: "" }),
      press: (verb, card) => fixture.press(`${name}@example.org`, verb, card),
      heard: () =>
        fixture.whispers.filter(({ user }) => user === `${name}@example.org`).map(({ text }) => text),
    }),
    deliver: (name, number, text) => fixture.say(`${name}@example.org`, text, { id: `m-${number}` }),
    limits: {
      waitMs: 700,
      set(isOn) {
        fixture.retryAfterMs = 700;
        fixture.trouble = isOn ? "busy" : "none";
      },
      refused: () => fixture.refused,
    },
    shown: () =>
      fixture.posts.map(({ text, post, replyTo }) => ({
        text,
        answers: fixture.posts.find(({ ref }) => ref === replyTo)?.text ?? fixture.said.get(replyTo ?? ""),
        card: post.buttons[0]?.card,
        verbs: post.buttons.map(({ verb }) => verb),
        links: post.link === undefined ? [] : [post.link.url],
      })),
    cut: async (isDown) => {
      fixture.trouble = isDown ? "down" : "none";
    },
  };
});
