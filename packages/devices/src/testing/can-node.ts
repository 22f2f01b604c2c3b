// A simulated stub as a node of a CAN bus, whatever carries its frames.
import { createIsoTpReader, encodeIsoTp, readFlowControl } from "../framing/iso-tp.ts";
import type { CanFrame } from "../framing/slcan.ts";
import { createPacketStub, type PacketStub } from "./packet-stub.ts";

export interface CanNode {
  readonly stub: PacketStub;
  /** Every frame of the bus. */
  take(frame: CanFrame): void;
  /** Loses so many of the next consecutive frames it is sent. */
  lose: number;
}

export function createCanNode(node: number, send: (frame: CanFrame) => void): CanNode {
  const stub = createPacketStub({
    frame: encodeIsoTp,
    // A consecutive frame that nothing began, a frame of no kind, and the start of what does not go on.
    noise: [Uint8Array.of(0x21, 1, 2, 3), Uint8Array.of(0xff), Uint8Array.of(0x10, 0x20, 1, 2, 3, 4, 5, 6)],
  });
  let rest: Uint8Array[] = [];
  const say = (data: Uint8Array) => send({ id: 0x500 + node, data });
  const reader = createIsoTpReader({
    dropped: () => {},
    answer: say,
    frame: (packet) => {
      const pieces = [...stub.piecesOf(packet)];
      // Up to the first frame of what has more, nobody has to be asked.
      const isFirst = (piece: Uint8Array) => (piece[0] ?? 0) >> 4 === 1 && piece[1] !== 0x20;
      const at = pieces.findIndex(isFirst);
      rest = at === -1 ? [] : pieces.splice(at + 1);
      for (const piece of pieces) say(piece);
    },
  });
  const self: CanNode = {
    stub,
    lose: 0,
    take: ({ id, data }) => {
      if (id !== 0x400 + node) return;
      const flow = readFlowControl(data);
      const isConsecutive = (data[0] ?? 0) >> 4 === 2;
      if (flow?.go === "on") for (const frame of rest.splice(0, flow.blockSize || rest.length)) say(frame);
      else if (isConsecutive && self.lose > 0) self.lose -= 1;
      else reader.take(data);
    },
  };
  return self;
}
