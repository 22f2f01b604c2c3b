// The CRC of any stretch of a stream, in as many steps for a long stretch as for a short one: a reader that looks for
// frames in noise would otherwise go over the same bytes again and again.
//
// A CRC is a remainder of polynomials over one bit, so it is linear: with P the remainder of everything read so far, the
// CRC of the n bytes between two places is (initial value ⊕ P before) · x^8n ⊕ P after. A sound stretch, its own CRC at
// its end, has the CRC 0.
import type { CrcWidth } from "./crc.ts";

const polynomials = { 8: { bits: 0x07, initial: 0 }, 16: { bits: 0x1021, initial: 0xffff } } as const;

export interface SpanCrc {
  /** The remainder of the bytes so far and this one. */
  step(remainder: number, byte: number): number;
  /** Whether the stretch of `length` bytes between the two remainders ends with its own CRC. */
  isSound(before: number, after: number, length: number): boolean;
}

export function createSpanCrc(width: CrcWidth, lengthMax: number): SpanCrc {
  const { bits, initial } = polynomials[width];
  const mask = (1 << width) - 1;
  const byteSteps = Uint16Array.from({ length: 256 }, (_, byte) => reduced(byte, 8, width, bits));
  const nibbleSteps = Uint16Array.from({ length: 16 }, (_, nibble) => reduced(nibble, 4, width, bits));
  const step = (remainder: number, byte: number) =>
    ((remainder << 8) & mask) ^ (byteSteps[((remainder >> (width - 8)) ^ byte) & 0xff] as number);
  /** x^8n, by n. */
  const powers = new Uint16Array(lengthMax + 1);
  powers[0] = 1;
  for (let n = 1; n <= lengthMax; n += 1) powers[n] = step(powers[n - 1] as number, 0);

  const multiply = (a: number, b: number) => {
    let product = 0;
    for (let shift = width - 4; shift >= 0; shift -= 4) {
      const nibble = (a >> shift) & 0xf;
      const part = ((nibble & 1) * b) ^ ((nibble & 2) * b) ^ ((nibble & 4) * b) ^ ((nibble & 8) * b);
      const sum = (product << 4) ^ part;
      product = (sum & mask) ^ (nibbleSteps[sum >> width] as number);
    }
    return product;
  };
  return {
    step,
    isSound: (before, after, length) => multiply(initial ^ before, powers[length] as number) === after,
  };
}

/** The remainder of `value` · x^width, of a value of `count` bits. */
function reduced(value: number, count: number, width: number, bits: number): number {
  let remainder = value << (width - count);
  for (let bit = 0; bit < count; bit += 1) {
    const isOver = (remainder >> (width - 1)) & 1;
    remainder = ((remainder << 1) & ((1 << width) - 1)) ^ (isOver * bits);
  }
  return remainder;
}
