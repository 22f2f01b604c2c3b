// The two checksums of spec/devices.md, section 1.

export type CrcWidth = 8 | 16;

/** Over data and its own CRC together it is 0. `crc` goes on from an earlier part. */
export function crc16(bytes: Uint8Array, crc = 0xffff): number {
  let sum = crc;
  for (const byte of bytes) {
    let high = (sum >> 8) ^ byte;
    high ^= high >> 4;
    sum = ((sum << 8) ^ (high << 12) ^ (high << 5) ^ high) & 0xffff;
  }
  return sum;
}

export function crc8(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return sum;
}

/** With its CRC-16 behind it, high byte first. */
export function sealed(bytes: Uint8Array): Uint8Array {
  const packet = new Uint8Array(bytes.length + 2);
  packet.set(bytes);
  new DataView(packet.buffer).setUint16(bytes.length, crc16(bytes));
  return packet;
}

/** Without its CRC-16; `undefined` where that is wrong or there is nothing else. */
export function unsealed(packet: Uint8Array): Uint8Array | undefined {
  if (packet.length < 3 || crc16(packet) !== 0) return undefined;
  return packet.subarray(0, -2);
}
