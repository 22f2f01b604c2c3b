// The data of server-sent events, one by one; events without any, which some servers begin with, are left out.
import { messageCharsMax } from "./server-side.ts";

export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  let chars = 0;
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (chars > 0) yield data.join("\n");
        data = [];
        chars = 0;
      } else if (line.startsWith("data:")) {
        const value = line.slice(line[5] === " " ? 6 : 5);
        data.push(value);
        chars += value.length;
      }
    }
    if (chars + rest.length > messageCharsMax) throw new Error("an event of more than 16 MiB");
  }
}
