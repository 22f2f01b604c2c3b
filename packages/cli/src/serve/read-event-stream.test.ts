import { expect, test } from "vitest";
import { readEventStream } from "./read-event-stream.ts";

async function eventsOf(text: string, size: number): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const events: string[] = [];
  for await (const event of readEventStream(body)) events.push(event);
  return events;
}

test.each([1, 2, 3, 7, 1_000])("events are read whole from pieces of %i bytes", async (size) => {
  const text =
    'id: 0\ndata: \n\n: comment\nevent: message\ndata: {"ä":1}\n\ndata: a\r\ndata:b\r\n\r\ndata: unfinished';
  expect(await eventsOf(text, size)).toEqual(['{"ä":1}', "a\nb"]);
});
