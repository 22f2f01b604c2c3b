// Whose answer it was that was too large to read: it stands near one of the ends, the way servers write them.

const atBegin = /^\{ ?(?:"jsonrpc" ?: ?"2\.0", ?)?"id" ?: ?(\d{1,15}|"[\w:.-]{1,64}") ?,/;
const atEnd = /^, ?"id" ?: ?(\d{1,15}|"[\w:.-]{1,64}") ?(?:, ?"jsonrpc" ?: ?"2\.0" ?)?\}$/;

export function answerIdIn(head: string, tail: string): string | number | undefined {
  const last = tail.slice(tail.lastIndexOf(",", tail.lastIndexOf('"id"'))).trimEnd();
  const found = (atBegin.exec(head.trimStart()) ?? atEnd.exec(last))?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as string | number);
}

export function tooLarge(bytesMax: number): string {
  return `its answer has more than ${bytesMax} bytes`;
}
