// An SLCAN adapter with one node on its bus, on a Unix socket: what is behind the serial port of the tests.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { encodeIsoTp } from "../../../packages/devices/src/framing/iso-tp.ts";
import { createSlcanReader, encodeSlcan } from "../../../packages/devices/src/framing/slcan.ts";
import { type CanNode, createCanNode } from "../../../packages/devices/src/testing/can-node.ts";

export interface SlcanNode extends AsyncDisposable {
  /** Every line it was told, without its end. */
  readonly lines: string[];
  /** Loses so many of the next consecutive frames it is sent. */
  lose: number;
  /** A packet of the node that nobody asked for; whether it may go on is not waited for. */
  say(packet: Uint8Array): void;
}

export async function startSlcanNode(path: string, node: number): Promise<SlcanNode> {
  const sockets = new Set<Socket>();
  let current: CanNode | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    const bus = createCanNode(node, (frame) => void socket.write(encodeSlcan(frame)));
    current = bus;
    const read = createSlcanReader({ dropped: () => {}, frame: bus.take });
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      const lines = text.split("\r");
      text = lines.pop() ?? "";
      stub.lines.push(...lines);
      read(bytes);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(path);
  await once(server, "listening");
  const stub: SlcanNode = {
    lines: [],
    get lose() {
      return current?.lose ?? 0;
    },
    set lose(count) {
      if (current !== undefined) current.lose = count;
    },
    say: (packet) => {
      for (const data of encodeIsoTp(packet)) {
        for (const socket of sockets) socket.write(encodeSlcan({ id: 0x500 + node, data }));
      }
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return stub;
}
