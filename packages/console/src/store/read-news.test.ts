import { expect, test } from "vitest";
import { type News, readNews } from "./read-news.ts";

const text = ': here\n\nid: a-1\ndata: {"all":true}\n\nid: a-2\ndata: {"gate":"gät"}\n\n: here\n\n';
const news = [{}, { id: "a-1", isAll: true }, { id: "a-2", gate: "gät" }, {}];

function streamOf(...chunks: Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function allOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<News[]> {
  const all: News[] = [];
  for await (const one of readNews(stream)) all.push(one);
  return all;
}

test("events are the same wherever the stream is cut", async () => {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at <= bytes.length; at += 1) {
    const read = await allOf(streamOf(bytes.slice(0, at), bytes.slice(at)));
    expect(read).toEqual(news);
  }
});

test("what has not ended is no news, and what never ends is an error", async () => {
  const open = new TextEncoder().encode('id: a-1\ndata: {"gate":"g"}');
  expect(await allOf(streamOf(open))).toEqual([]);
  const endless = new TextEncoder().encode("data: ".padEnd(20_000, "x"));
  await expect(allOf(streamOf(endless))).rejects.toThrow("without an end");
});

test.each([
  ["has no end", "data: ".padEnd(20_000, "x"), "without an end"],
  ["is no JSON", "id: a-1\ndata: {\n\n", "JSON"],
])("the connection is given up where an event %s", async (_, sent, fault) => {
  let isGivenUp = false;
  const open = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(sent)),
    cancel: () => {
      isGivenUp = true;
    },
  });
  await expect(allOf(open)).rejects.toThrow(fault);
  await expect.poll(() => isGivenUp).toBe(true);
});

test("the connection is given up where nobody reads on", async () => {
  let isGivenUp = false;
  const open = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    cancel: () => {
      isGivenUp = true;
    },
  });
  for await (const one of readNews(open)) if (one.isAll) break;
  await expect.poll(() => isGivenUp).toBe(true);
});
