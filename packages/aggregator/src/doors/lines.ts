// Bytes to lines, never more of one than is allowed.

export interface LineTaker {
  line(text: string): void;
  /** A line was too long; the rest of it is passed over. */
  tooLong(): void;
  /** A line was not UTF-8. */
  unreadable(): void;
}

const newline = 10;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Takes chunks as they come. */
export function createLineReader(bytesMax: number, taker: LineTaker): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let count = 0;
  let isPassingOver = false;

  function add(part: Buffer): void {
    if (isPassingOver) return;
    count += part.length;
    if (count <= bytesMax) {
      if (part.length > 0) parts.push(part);
      return;
    }
    isPassingOver = true;
    parts = [];
    taker.tooLong();
  }

  function finish(): void {
    const bytes = Buffer.concat(parts);
    const isWhole = !isPassingOver;
    parts = [];
    count = 0;
    isPassingOver = false;
    if (!isWhole) return;
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch {
      taker.unreadable();
      return;
    }
    if (text.trim() !== "") taker.line(text);
  }

  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, end));
      finish();
      from = end + 1;
    }
    add(chunk.subarray(from));
  };
}
