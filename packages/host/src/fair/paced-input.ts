// Reads an upgraded socket in pieces, each when its account has its turn: whatever speaks over it (frames, pings,
// messages), and whichever library reads it. It stands between a socket of Node and its own buffer: `push` is what the
// system's reads call, `_read` what asks for the next one.
import type { Duplex } from "node:stream";
import type { Account, Turns } from "./turns.ts";

/** Small enough that the frames in one piece take about as long as a slice. */
const pieceBytes = 1_024;

/**
 * To be called before anybody listens to the socket. `head` came with the handshake and is read first. `account` is
 * asked each time: who speaks may be found out later.
 */
export function paceInput(socket: Duplex, head: Buffer, turns: Turns, account: () => Account): void {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  /** What has come and was not given on yet; `null` is the end. */
  const held: (Buffer | null)[] = head.length > 0 ? [head] : [];
  let isWaiting = false;

  function give(): void {
    while (held.length > 0 && !isWaiting) isWaiting = !turns.run(account(), giveOne);
  }

  function giveOne(): void {
    const [chunk = null] = held;
    if (chunk === null || chunk.length <= pieceBytes) held.shift();
    else held[0] = chunk.subarray(pieceBytes);
    // Reading on is asked for by the stream itself, through `_read`.
    if (!socket.destroyed) push(chunk === null ? null : chunk.subarray(0, pieceBytes));
    if (!isWaiting) return;
    isWaiting = false;
    give();
  }

  socket.push = (chunk: Buffer | null) => {
    held.push(chunk);
    give();
    // False where nothing more shall be read of the system.
    return held.length === 0 && socket.readableLength < socket.readableHighWaterMark;
  };
  socket._read = (size) => {
    if (held.length === 0) read(size);
    else give();
  };
  // The stream does not ask for what came with the handshake: it takes a read to be under way.
  if (held.length > 0) socket.once("resume", give);
}
