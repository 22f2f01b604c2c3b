// Requests that a client sends ahead on one connection are begun one after the other: what is made for somebody who
// reads nothing is one answer, not a hundred.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** So many requests may wait; a client that sends more ahead is disconnected. */
const aheadMax = 128;

interface Line {
  last: ServerResponse;
  /** When the last one may begin. */
  turn: Promise<void>;
  waiting: number;
}

/** Whether the request can begin: at once, where nothing is under way before it. False once its client is gone. */
type InTurn = (socket: Socket, response: ServerResponse) => true | Promise<boolean>;

export function createInTurn(): InTurn {
  const lines = new WeakMap<Socket, Line>();
  return (socket, response) => {
    const line = lines.get(socket);
    if (line === undefined) {
      lines.set(socket, { last: response, turn: Promise.resolve(), waiting: 0 });
      return true;
    }
    const before = line.last;
    line.last = response;
    if (before.writableFinished && line.waiting === 0) return true;
    line.waiting += 1;
    if (line.waiting > aheadMax) socket.destroy();
    line.turn = line.turn.then(() => closed(before, socket));
    return line.turn.then(() => {
      line.waiting -= 1;
      return !socket.destroyed;
    });
  };
}

/** Answers that have not had the socket yet are not told that it is gone. */
function closed(response: ServerResponse, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (response.writableFinished || socket.destroyed) return resolve();
    const end = () => {
      response.off("close", end);
      socket.off("close", end);
      resolve();
    };
    response.once("close", end);
    socket.once("close", end);
  });
}
