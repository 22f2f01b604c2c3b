import { expect, test } from "vitest";
import { splitWelcome } from "./welcome.ts";

test("[X0-7-3] envelopes come out of a welcome byte by byte", () => {
  const first = '{"id":"1","payload":{"n":9007199254740993, "x":1.0}}';
  const second = '{"id":"2","payload":{"text":"[] ]"}}';
  const text = `{"kind":"system","payload":{"event":"welcome","history":{"seq":2,"envelopes":[${first}, ${second}]}}}`;
  const { welcome, recent } = splitWelcome(text);
  expect(recent).toEqual([first, second]);
  expect(JSON.parse(welcome).payload.history).toEqual({ seq: 2, envelopes: [] });
});

test("a welcome without them stays as it is", () => {
  const text = '{"kind":"system","payload":{"event":"welcome","history":{"seq":2}}}';
  expect(splitWelcome(text)).toEqual({ welcome: text, recent: [] });
});
