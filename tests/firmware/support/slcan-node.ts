// An SLCAN adapter with one node on its bus, on a Unix socket: what is behind the serial port of the tests.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createIsoTpReader, encodeIsoTp, readFlowControl } from "@mcpx/devices";
import { createSlcanReader, encodeSlcan } from "../../../packages/devices/src/framing/slcan.ts";
import { answerPackets } from "../../../packages/devices/src/testing/simulated-stub.ts";

export interface SlcanNode extends AsyncDisposable {
  /** Every line it was told, without its end. */
  readonly lines: string[];
  /** Loses so many of the next consecutive frames it is sent. */
  lose: number;
}

export async function startSlcanNode(path: string, node: number): Promise<SlcanNode> {
  const answer = answerPackets();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest: Uint8Array[] = [];
    let text = "";
    const send = (data: Uint8Array) => socket.write(encodeSlcan({ id: 0x500 + node, data }));
    const reader = createIsoTpReader({
      dropped: () => {},
      answer: send,
      frame: (packet) => {
        const said = answer(packet);
        const [first, ...more] = said === undefined ? [] : encodeIsoTp(said);
        rest = more;
        if (first !== undefined) send(first);
      },
    });
    const read = createSlcanReader({
      dropped: () => {},
      frame: ({ id, data }) => {
        if (id !== 0x400 + node) return;
        const flow = readFlowControl(data);
        const isConsecutive = (data[0] ?? 0) >> 4 === 2;
        if (flow?.go === "on") for (const frame of rest.splice(0, flow.blockSize || rest.length)) send(frame);
        else if (isConsecutive && stub.lose > 0) stub.lose -= 1;
        else reader.take(data);
      },
    });
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
    lose: 0,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return stub;
}
