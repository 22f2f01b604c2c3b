import fc from "fast-check";
import { expect, test } from "vitest";
import { EventReader } from "./event-reader.ts";

function read(chunks: readonly string[]): string[] {
  const events: string[] = [];
  const reader = new EventReader(16_777_216, {
    event: (data) => data !== "" && events.push(data),
    tooLarge: () => {
      throw new Error("too large");
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  return events;
}

test("events are the same however the text is cut", () => {
  const text =
    ': hello\n\nevent: message\ndata: {"a":1}\n\nid: 7\ndata:two\r\ndata: lines\r\n\r\ndata:\n\ndata: cut off';
  expect(read([text])).toEqual(['{"a":1}', "two\nlines"]);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), text.length];
      const chunks = places.slice(1).map((end, index) => text.slice(places[index], end));
      expect(read(chunks)).toEqual(['{"a":1}', "two\nlines"]);
    }),
  );
});

test("an event that never ends is refused, in one line or in many", () => {
  const long = "x".repeat(1_048_576);
  expect(() => read(["data: ", ...Array(17).fill(long)])).toThrow(/too large/);
  expect(() => read(Array(17).fill(`data: ${long}\n`))).toThrow(/too large/);
  expect(read(Array(17).fill(`data: ${long}\n\n`))).toHaveLength(17);
});
