// A simulated stub as an SPI slave: for every byte clocked in one comes out, as firmware/avr/spi.c does it.
import { createLengthPrefixReader, encodeLengthPrefix, idleByte } from "../framing/length-prefix.ts";
import { createPacketStub, type PacketStub } from "./packet-stub.ts";

export interface SpiStub {
  readonly stub: PacketStub;
  /** Unasked, as soon as it is clocked. */
  say(packet: Uint8Array): void;
  /** Everything that was clocked in between chip select going down and up. */
  transact(bytes: Uint8Array): Uint8Array;
  /** Of every transaction, what was clocked in. */
  readonly transactions: Uint8Array[];
}

export function createSpiStub(): SpiStub {
  const stub = createPacketStub({
    frame: (packet) => [encodeLengthPrefix(packet)],
    // An impossible length, and no idle byte after it for a while.
    noise: [Uint8Array.of(0, 0, 1, 2, 3, 4)],
  });
  const out: number[] = [];
  const transactions: Uint8Array[] = [];
  return {
    stub,
    say: (packet) => void out.push(...encodeLengthPrefix(packet)),
    transactions,
    transact: (bytes) => {
      transactions.push(bytes);
      const read = createLengthPrefixReader({
        dropped: () => {},
        // One buffer: what is new replaces what was still to be said.
        frame: (packet) =>
          void out.splice(0, out.length, ...stub.piecesOf(packet).flatMap((piece) => [...piece])),
      });
      return Uint8Array.from(bytes, (byte) => {
        const said = out.shift() ?? idleByte;
        read(Uint8Array.of(byte));
        return said;
      });
    },
  };
}
