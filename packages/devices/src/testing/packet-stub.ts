// A simulated stub behind a line that carries whole packets, which can be told to spoil its next answer.
import { type AnswerPacket, answerPackets } from "./simulated-stub.ts";

export type Fault =
  /** Says the first half of it, and nothing more. */
  | "half"
  /** Says something else before it. */
  | "noise"
  /** Says nothing. */
  | "silence";

export interface PacketStub {
  /** Of the next answer only. */
  fault: Fault | undefined;
  /** Its answer in the pieces that go over the line, spoilt where that was asked for. */
  piecesOf(packet: Uint8Array): readonly Uint8Array[];
}

export interface StubFraming {
  frame(packet: Uint8Array): readonly Uint8Array[];
  /** Pieces that are no answer. */
  readonly noise: readonly Uint8Array[];
  /** Those of the simulated stub unless given. */
  readonly answer?: AnswerPacket | undefined;
}

export function createPacketStub({ frame, noise, answer = answerPackets() }: StubFraming): PacketStub {
  const spoil: Record<Fault, (pieces: readonly Uint8Array[]) => readonly Uint8Array[]> = {
    half: (pieces) => halfOf(pieces),
    noise: (pieces) => [...noise, ...pieces],
    silence: () => [],
  };
  const stub: PacketStub = {
    fault: undefined,
    piecesOf: (packet) => {
      const said = answer(packet);
      const pieces = said === undefined ? [] : frame(said);
      const { fault } = stub;
      stub.fault = undefined;
      return fault === undefined ? pieces : spoil[fault](pieces);
    },
  };
  return stub;
}

/** Of many pieces the first ones, of one its beginning. */
function halfOf(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const [first = new Uint8Array()] = pieces;
  return pieces.length > 1
    ? pieces.slice(0, Math.ceil(pieces.length / 2))
    : [first.subarray(0, first.length / 2)];
}
