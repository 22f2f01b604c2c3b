// Valid bytes made hostile: flipped, cut, spliced, doubled, with lengths that lie and levels without end. Pure, and
// every mutation is a value, so that whatever breaks a law is made smaller until only the reason is left.
import fc from "fast-check";

interface Mutation {
  kind: number;
  at: number;
  value: number;
  size: number;
}

/** Which valid bytes, which others are spliced in, and what is done to them. */
export interface Recipe {
  seed: number;
  other: number;
  mutations: readonly Mutation[];
}

/** Longer than anything that may be sent, so that bounds are reached. */
const bytesMax = 4_500;

/** Bounds of lengths and heads, of every framing here. */
const telling = [
  0, 1, 2, 3, 4, 6, 7, 8, 0x0d, 0x10, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x20, 0x21, 0x30, 0x40, 0x5f, 0x60, 0x7e,
  0x7f, 0x80, 0x81, 0x84, 0x9f, 0xa1, 0xbf, 0xc0, 0xf4, 0xf6, 0xfa, 0xfb, 0xfe, 0xff,
];

/** What opens one more level, or means something to a reader of text. */
const words: readonly Uint8Array[] = [
  ...[Uint8Array.of(0x81), Uint8Array.of(0xa1, 0)],
  ...["[", '{"0":', '"__proto__":', '"constructor":', '"id":', "1e999", "-0", '"\\ud800"', "null,", "}"].map(
    (word) => Buffer.from(word),
  ),
];

type Apply = (bytes: Buffer, mutation: Mutation, other: Uint8Array) => Buffer;

const spot = (bytes: Uint8Array, at: number) => at % (bytes.length + 1);

function put(bytes: Buffer, at: number, removed: number, added: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(Math.min(at + removed, bytes.length))]);
}

const changeByte = (bytes: Buffer, at: number, change: (byte: number) => number) => {
  if (bytes.length === 0) return bytes;
  const where = at % bytes.length;
  return put(bytes, where, 1, Buffer.of(change(bytes[where] as number) & 0xff));
};

/** The first byte from `at` on that counts what follows it, or nearly so. */
function lengthAt(bytes: Buffer, at: number): number {
  const from = bytes.length === 0 ? 0 : at % bytes.length;
  for (let where = from; where < bytes.length; where += 1) {
    const left = bytes.length - where - 1;
    const said = bytes[where] as number;
    if (said <= left && said + 4 >= left) return where;
  }
  return from;
}

const kinds: readonly Apply[] = [
  (bytes, { at, value }) => changeByte(bytes, at, (byte) => byte ^ (1 << (value % 8))),
  (bytes, { at, value }) => changeByte(bytes, at, () => telling[value % telling.length] as number),
  (bytes, { at, value }) => changeByte(bytes, lengthAt(bytes, at), (byte) => byte + 1 - (value % 3)),
  (bytes, { at, value }) =>
    changeByte(bytes, lengthAt(bytes, at), () => telling[value % telling.length] as number),
  (bytes, { at }) => bytes.subarray(0, spot(bytes, at)),
  (bytes, { at }) => bytes.subarray(spot(bytes, at)),
  (bytes, { at, size }) => put(bytes, spot(bytes, at), size, Buffer.alloc(0)),
  (bytes, { at, value, size }) =>
    put(
      bytes,
      spot(bytes, at),
      0,
      Uint8Array.from({ length: size }, (_, place) => (value * (place + 1)) >> 3),
    ),
  (bytes, { at, value, size }) => {
    const from = spot(bytes, value);
    return put(bytes, spot(bytes, at), 0, bytes.subarray(from, from + size));
  },
  (bytes, { at, value }, other) =>
    Buffer.concat([bytes.subarray(0, spot(bytes, at)), other.subarray(spot(other, value))]),
  (bytes, { at, value, size }) => {
    const word = words[value % words.length] as Uint8Array;
    // Often at the very beginning: what is deep is deep from there.
    const where = at % 3 === 0 ? 0 : spot(bytes, at);
    return put(bytes, where, 0, Buffer.concat(Array.from({ length: size }, () => word)));
  },
  (bytes, { size }) => Buffer.concat(Array.from({ length: Math.min(size, 9) }, () => bytes)),
];

export const recipes: fc.Arbitrary<Recipe> = fc.record({
  seed: fc.nat(0xffff),
  other: fc.nat(0xffff),
  mutations: fc.array(
    fc.record({
      kind: fc.nat(kinds.length - 1),
      at: fc.nat(0xffff),
      value: fc.nat(0xffff),
      size: fc.integer({ min: 1, max: 64 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

export function mutate(seeds: readonly Uint8Array[], { seed, other, mutations }: Recipe): Uint8Array {
  const [one, two] = [seed, other].map((at) => seeds[at % seeds.length] as Uint8Array) as [
    Uint8Array,
    Uint8Array,
  ];
  const bytes = mutations.reduce<Buffer>(
    (so, mutation) => (kinds[mutation.kind] as Apply)(so, mutation, two).subarray(0, bytesMax),
    Buffer.from(one),
  );
  return Uint8Array.from(bytes);
}
