// Reads a socket or a pipe in pieces, each when its account has its turn: whatever speaks over it (frames, pings,
// messages), and whichever library reads it. It stands between a socket of Node and its own buffer: `push` is what the
// system's reads call, `_read` what asks for the next one.
import type { Readable } from "node:stream";
import type { Hold } from "./byte-ledger.ts";
import type { Account, Turns } from "./turns.ts";
import { UnfinishedMessage } from "./unfinished-message.ts";

/** What the peer of a socket may take of this process. Unlike the request that began it, it may be kept. */
export interface Share {
  /** Its turn, for what takes long; `undefined` where it has it. */
  turn(): Promise<void> | undefined;
  /** Called where a message it has not finished takes more memory than it may have. */
  onRefused(callback: (error: unknown) => void): void;
}

export interface PaceOptions {
  turns: Turns;
  /** How much is read at once, at the most. */
  pieceBytes?: number | undefined;
  /** Asked each time: who speaks may be found out later. */
  account(): Account;
  /**
   * What comes is a WebSocket: memory for what has come of a message that is not whole; throws where that is too much.
   */
  hold?(bytes: number): Hold;
}

/** Small enough that the frames in one piece take about as long as a slice. */
const pieceBytesDefault = 1_024;
/** So much of an unfinished message costs a socket anyway. */
const freeBytes = 16_384;

/** To be called before anybody listens to the socket. `head` came with the handshake and is read first. */
export function paceInput(socket: Readable, head: Buffer, options: PaceOptions): Share {
  const { turns, account, pieceBytes = pieceBytesDefault } = options;
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  /** What has come and was not given on yet; `null` is the end. */
  const waiting: (Buffer | null)[] = head.length > 0 ? [head] : [];
  /** Somebody who reads may ask for more in the middle of it. */
  let isGiving = false;
  /** The next piece is given when its turn comes. */
  let isPutOff = false;
  const unfinished = options.hold && new UnfinishedMessage();
  let held: Hold | undefined;
  let refused: (error: unknown) => void = () => socket.destroy();

  function give(): void {
    if (isGiving || isPutOff) return;
    isGiving = true;
    while (waiting.length > 0 && !isPutOff) {
      if (socket.readableLength === 0) isPutOff = !turns.run(account(), giveOne);
      else waitForReader();
    }
    isGiving = false;
  }

  /** What was given lies in the buffer: what it costs is not known before somebody has read it, in a later tick. */
  function waitForReader(): void {
    isPutOff = true;
    void turns.nextTurn(account()).then(giveOne);
  }

  function giveOne(): void {
    const wasPutOff = isPutOff;
    isPutOff = false;
    isGiving = true;
    const [chunk = null] = waiting;
    if (chunk === null || chunk.length <= pieceBytes) waiting.shift();
    else waiting[0] = chunk.subarray(pieceBytes);
    // Reading on is asked for by the stream itself, through `_read`.
    if (!socket.destroyed) giveOn(chunk === null ? null : chunk.subarray(0, pieceBytes));
    if (!wasPutOff) return;
    isGiving = false;
    give();
  }

  function giveOn(piece: Buffer | null): void {
    if (piece !== null) unfinished?.take(piece);
    push(piece);
    if (unfinished !== undefined) keep(unfinished.bytes);
  }

  function keep(bytes: number): void {
    if (bytes <= freeBytes) {
      if (held !== undefined) release();
      return;
    }
    try {
      held ??= options.hold?.(0);
      held?.resize(bytes);
    } catch (error) {
      refused(error);
    }
  }

  function release(): void {
    held?.release();
    held = undefined;
  }

  socket.push = (chunk: Buffer | null) => {
    waiting.push(chunk);
    give();
    // False where nothing more shall be read of the system.
    return waiting.length === 0 && socket.readableLength < socket.readableHighWaterMark;
  };
  socket._read = (size) => {
    if (waiting.length === 0) read(size);
    else give();
  };
  // The stream does not ask for what came with the handshake: it takes a read to be under way.
  if (waiting.length > 0) socket.once("resume", give);
  socket.once("close", release);

  return {
    turn: () => turns.turn(account()),
    onRefused(callback) {
      refused = callback;
    },
  };
}
