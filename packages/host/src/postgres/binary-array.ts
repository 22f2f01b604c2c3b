// Arrays in PostgreSQL's binary form. As text every quotation mark of a JSON envelope would be escaped here and read
// back there; this is a copy.

const textOid = 25;
const bigintOid = 20;
const byteaOid = 17;
const headerBytes = 20;
/** Stands before a value that is none. */
const nullLength = -1;

export function textArray(values: readonly (string | null)[]): Buffer {
  return arrayOf(
    textOid,
    values,
    (text) => Buffer.byteLength(text),
    (text, into, at) => into.write(text, at),
  );
}

export function byteaArray(values: readonly (Buffer | null)[]): Buffer {
  return arrayOf(
    byteaOid,
    values,
    ({ length }) => length,
    (bytes, into, at) => bytes.copy(into, at),
  );
}

export function bigintArray(values: readonly number[]): Buffer {
  return arrayOf(
    bigintOid,
    values,
    () => 8,
    (value, into, at) => into.writeBigInt64BE(BigInt(value), at) - at,
  );
}

/** One dimension, counted from 1; `write` gives back how many bytes it wrote. */
function arrayOf<T>(
  oid: number,
  values: readonly (T | null)[],
  lengthOf: (value: T) => number,
  write: (value: T, into: Buffer, at: number) => number,
): Buffer {
  const lengths = values.map((value) => (value === null ? nullLength : lengthOf(value)));
  const bytes = lengths.reduce((sum, length) => sum + 4 + Math.max(0, length), headerBytes);
  const array = Buffer.allocUnsafe(bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(lengths.includes(nullLength) ? 1 : 0, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  let at = headerBytes;
  values.forEach((value, index) => {
    at = array.writeInt32BE(lengths[index] as number, at);
    if (value !== null) at += write(value, array, at);
  });
  return array;
}
