// DER, as much of it as a certificate needs: written from nested values, and read only as a list of elements. Pure.

/** A tag, a length, and what is inside. */
export function der(tag: number, ...inside: Uint8Array[]): Buffer {
  const content = Buffer.concat(inside);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  if (length < 0x10000) return [0x82, length >> 8, length & 0xff];
  throw new RangeError("no certificate is that long");
}

export const sequence = (...inside: Uint8Array[]) => der(0x30, ...inside);
export const setOf = (...inside: Uint8Array[]) => der(0x31, ...inside);
export const octets = (content: Uint8Array) => der(0x04, content);
export const utf8 = (text: string) => der(0x0c, Buffer.from(text));
export const isTrue = der(0x01, Buffer.from([0xff]));

/** `unused`: how many of the last bits do not count. */
export const bits = (content: Uint8Array, unused = 0) => der(0x03, Buffer.from([unused]), content);

/** Of bytes that begin with neither a zero nor a set highest bit: then they are a positive number as they are. */
export const integer = (content: Uint8Array) => der(0x02, content);

/** `1.2.840.10045.4.3.2`: the first two numbers in one byte, of the rest seven bits a byte. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(sevenBitBytes)]));
}

function sevenBitBytes(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

/** With two digits of the year until 2049, as the standard wants it, and with four from then on. */
export function time(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]|\.\d{3}/g, "");
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

/** What stands inside an element, each part with its tag and length. */
export function partsOf(element: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = contentStart(element, 0);
  while (at < element.length) {
    const start = contentStart(element, at);
    const end = start + contentLength(element, at);
    if (end > element.length) throw new RangeError("the DER is cut off");
    parts.push(element.subarray(at, end));
    at = end;
  }
  return parts;
}

function contentStart(bytes: Uint8Array, at: number): number {
  const first = bytes[at + 1] ?? 0;
  return at + 2 + (first < 0x80 ? 0 : first & 0x7f);
}

function contentLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at + 1] ?? 0;
  if (first < 0x80) return first;
  return bytes.subarray(at + 2, contentStart(bytes, at)).reduce((length, byte) => length * 256 + byte, 0);
}
