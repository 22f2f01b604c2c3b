// News of gates as they come over a stream of server-sent events. Pure, but for the stream.
import { EventReader, isObject } from "@mcpx/protocol";

export interface News {
  /** Where it stands in the stream: what to come back to. Absent in a mere sign of life. */
  readonly id?: string;
  /** This gate has changed. */
  readonly gate?: string;
  /** Everything has to be looked at: what was missed is not known. */
  readonly isAll?: boolean;
}

/** An event is a line or two. */
const eventCharsMax = 10_000;

/** Throws where it is no stream of events. */
export async function* readNews(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<News> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const heard: News[] = [];
  const events = new EventReader(eventCharsMax, {
    event: (data) => heard.push(newsOf(data, events.lastId)),
    tooLarge: () => {
      throw new Error("The gateway sends an event without an end.");
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      events.push(value);
      yield* heard.splice(0);
    }
  } finally {
    // Whatever nobody reads any more would keep its connection.
    await reader.cancel();
  }
}

function newsOf(data: string, id: string | undefined): News {
  if (id === undefined || data === "") return {};
  const said: unknown = JSON.parse(data);
  if (isObject(said) && typeof said.gate === "string") return { id, gate: said.gate };
  return { id, isAll: true };
}
