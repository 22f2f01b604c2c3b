// Consistent overhead byte stuffing, as spec/devices.md §4.1 has it: blocks of up to 254 bytes without a zero.

/** With the zero that ends a frame. */
export function cobsFrame(packet: Uint8Array): Uint8Array {
  const frame = [0];
  let codeAt = 0;
  const endBlock = () => {
    frame[codeAt] = frame.length - codeAt;
    codeAt = frame.length;
    frame.push(0);
  };
  for (const byte of packet) {
    if (byte === 0) endBlock();
    else {
      frame.push(byte);
      if (frame.length - codeAt === 255) endBlock();
    }
  }
  frame[codeAt] = frame.length - codeAt;
  return Uint8Array.from([...frame, 0]);
}

/** The packets of all whole frames, in hexadecimal; what is no frame is left out. */
export function readCobs(bytes: Uint8Array): string[] {
  const packets: string[] = [];
  let from = 0;
  for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, from)) {
    const packet = unstuffed(bytes.subarray(from, at));
    if (packet !== undefined && packet.length > 0) packets.push(packet.toString("hex"));
    from = at + 1;
  }
  return packets;
}

function unstuffed(frame: Uint8Array): Buffer | undefined {
  const bytes: number[] = [];
  for (let at = 0; at < frame.length; ) {
    const code = frame[at] as number;
    if (at + code > frame.length) return undefined;
    bytes.push(...frame.subarray(at + 1, at + code));
    at += code;
    if (code < 255 && at < frame.length) bytes.push(0);
  }
  return Buffer.from(bytes);
}
