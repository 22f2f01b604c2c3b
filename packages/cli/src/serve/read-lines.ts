// Lines of a stream that others write to, each up to a bound.
import type { Readable } from "node:stream";

/** `onLong` is told once of every line past the bound, of which nothing is kept; without it, it is cut. */
export function readLines(
  stream: Readable,
  charsMax: number,
  onLine: (line: string) => void,
  onLong?: () => void,
): void {
  let parts: string[] = [];
  let chars = 0;
  let isTooLong = false;
  const finish = () => {
    const line = parts.join("").replace(/\r$/, "");
    if (line !== "" && !(isTooLong && onLong)) onLine(line);
    parts = [];
    chars = 0;
    isTooLong = false;
  };
  const add = (piece: string) => {
    if (chars + piece.length > charsMax && !isTooLong) {
      isTooLong = true;
      parts.push(onLong === undefined ? piece.slice(0, charsMax - chars) : "");
      onLong?.();
    }
    if (isTooLong) return;
    parts.push(piece);
    chars += piece.length;
  };
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const [first = "", ...more] = chunk.split("\n");
    add(first);
    for (const piece of more) {
      finish();
      add(piece);
    }
  });
  stream.on("end", finish);
}
