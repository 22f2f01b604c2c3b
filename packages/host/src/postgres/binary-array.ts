// Arrays in PostgreSQL's binary form. As text every quotation mark of a JSON envelope would be escaped here and read
// back there; this is a copy.

const textOid = 25;
const bigintOid = 20;
const byteaOid = 17;
const headerBytes = 20;

export function textArray(values: readonly string[]): Buffer {
  const lengths = values.map((value) => Buffer.byteLength(value));
  const array = header(
    textOid,
    values.length,
    lengths.reduce((sum, length) => sum + 4 + length, 0),
  );
  let at = headerBytes;
  values.forEach((value, index) => {
    at = array.writeInt32BE(lengths[index] as number, at);
    at += array.write(value, at);
  });
  return array;
}

export function byteaArray(values: readonly Buffer[]): Buffer {
  const array = header(
    byteaOid,
    values.length,
    values.reduce((sum, { length }) => sum + 4 + length, 0),
  );
  let at = headerBytes;
  for (const value of values) {
    at = array.writeInt32BE(value.length, at);
    at += value.copy(array, at);
  }
  return array;
}

export function bigintArray(values: readonly number[]): Buffer {
  const array = header(bigintOid, values.length, values.length * 12);
  let at = headerBytes;
  for (const value of values) {
    at = array.writeInt32BE(8, at);
    at = array.writeBigInt64BE(BigInt(value), at);
  }
  return array;
}

/** One dimension, no nulls, counted from 1. */
function header(oid: number, count: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(count, 12);
  array.writeInt32BE(1, 16);
  return array;
}
