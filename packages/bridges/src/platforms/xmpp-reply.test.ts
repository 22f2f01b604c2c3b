import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { XmlElement, XmppLibrary } from "./xmpp-library.ts";
import { heardReply } from "./xmpp-reply.ts";

const { xml } = createRequire(import.meta.url)("@xmpp/client") as XmppLibrary;

const body = "> 🤖 which dock?\nseven";

function reply(range: Record<string, string> | undefined, more: { for?: string; id?: string } = {}) {
  const { for: about = "urn:xmpp:reply:0", id = "m1" } = more;
  const fallback = xml("fallback", { xmlns: "urn:xmpp:fallback:0", for: about }, xml("body", range));
  const parts: XmlElement[] = [xml("reply", { xmlns: "urn:xmpp:reply:0", id }), fallback];
  return heardReply(xml("message", {}, ...parts), body);
}

test("[X0-2.1-7] what is quoted for older clients is no words of the sender's", () => {
  // In characters: the robot is one.
  expect(reply({ start: "0", end: "16" })).toEqual({
    text: "seven",
    replyTo: { message: "m1", text: "🤖 which dock?\n" },
  });
  expect(heardReply(xml("message", {}), body)).toEqual({ text: body });
});

test("a range that is none takes nothing away", () => {
  const whole = { text: body, replyTo: { message: "m1" } };
  for (const range of [
    undefined,
    {},
    { start: "0" },
    { start: "-1", end: "16" },
    { start: "5", end: "2" },
    { start: "0", end: "1e9" },
    { start: "0", end: "3.5" },
    { start: "0", end: "x" },
  ]) {
    expect(reply(range as Record<string, string> | undefined)).toEqual(whole);
  }
  expect(reply({ start: "0", end: "16" }, { for: "urn:xmpp:other" })).toEqual(whole);
});
