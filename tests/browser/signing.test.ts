// Signed envelopes between a page in a real browser and a program in Node.
import { joinRoom, type RoomEnvelope } from "@mcpx/client";
import { createKey, createKeyBook } from "@mcpx/client/signing";
import { expect, onTestFinished, test } from "vitest";
import { startTestServer } from "../support/test-server.ts";
import { openBrowser, openPage, servePage } from "./page.ts";
import type * as entry from "./support/signing-entry.ts";

test("[X0-9-7] a page signs with a key that cannot leave its browser, and verifies what Node signed", {
  timeout: 60_000,
}, async () => {
  const site = await servePage("tests/browser/support/signing-entry.ts");
  const server = await startTestServer({ origins: [site.origin] });
  const browser = await openBrowser();
  onTestFinished(async () => {
    await browser.close();
    await server.stop();
    await site.close();
  });
  const token = (sub: string) => server.token({ sub, topics: ["plaza"], level: "full" });
  const key = await createKey();
  const book = createKeyBook({}, { pinsFirstUse: true });
  await using ann = await joinRoom({
    url: server.url,
    topic: "plaza",
    token: await token("ann"),
    sign: key,
    verify: book,
  });
  await ann.say("hello page");
  const { page, errors } = await openPage(browser, site.origin);
  /** Joins, says it, and tells what holds of the one envelope before. */
  const visit = async (text: string) =>
    page.evaluate(
      async ({ url, own, hers, words }) => {
        const {
          joinRoom: join,
          browserKey,
          createKeyBook: book,
        } = (globalThis as unknown as { mcpx: typeof entry }).mcpx;
        const sign = await browserKey("page");
        const room = await join({ url, topic: "plaza", token: own, sign, verify: book({ ann: hers }) });
        const first = room.recent[0] as RoomEnvelope;
        const before = [await room.verify(first), await room.verify({ ...first })].map(({ state }) => state);
        await room.say(words);
        await room.close();
        return { before, x: sign.jwk.x };
      },
      { url: server.url, own: await token("page"), hers: key.jwk, words: text },
    );
  const first = await visit("one");
  await page.reload();
  await page.waitForFunction("globalThis.mcpx !== undefined");
  const second = await visit("two");
  expect(first.before).toEqual(["valid", "valid"]);
  // The same key after the page was loaded anew.
  expect(second.x).toBe(first.x);
  const { envelopes } = await ann.history();
  const states: string[] = [];
  for (const envelope of envelopes.toReversed()) states.push((await ann.verify(envelope)).state);
  expect(states).toEqual(["unpinned", "unpinned", "valid"]);
  expect(book.keysOf("page")).toEqual([{ kty: "OKP", crv: "Ed25519", x: first.x }]);
  expect(errors).toEqual([]);
});
