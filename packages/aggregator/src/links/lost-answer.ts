// Whose answer it was that was too large to read: it stands near one of the ends, the way servers write them.

const id = String.raw`"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,64}")\s*`;
const atBegin = new RegExp(String.raw`^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*${id},`);
const atEnd = new RegExp(String.raw`,\s*${id}(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

export function answerIdIn(head: string, tail: string): string | number | undefined {
  const found = (atBegin.exec(head) ?? atEnd.exec(tail))?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as string | number);
}

export function tooLarge(bytesMax: number): string {
  return `its answer has more than ${bytesMax} bytes`;
}
