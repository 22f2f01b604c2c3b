// A stream of bytes as lines, one at a time. A line without end costs no more memory than a long one: its rest is left
// out, and the reader sees that it is not what it should be.

export async function* boundedLines(
  chunks: AsyncIterable<Uint8Array>,
  charsMax = 262_144,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = "";
  const add = (text: string) => {
    if (line.length < charsMax) line += text.slice(0, charsMax - line.length);
  };
  for await (const chunk of chunks) {
    const [first = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    add(first);
    for (const next of rest) {
      yield line;
      line = "";
      add(next);
    }
  }
  add(decoder.decode());
  if (line !== "") yield line;
}
