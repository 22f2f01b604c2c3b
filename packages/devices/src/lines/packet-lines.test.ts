// The cases of lines that hand over whole packets. Sockets are real; where a driver of the kernel would be needed, only
// the library that speaks to it is played, by its own interface.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCobsReader, frameCobs } from "../framing/cobs.ts";
import { createGattReader, encodeGatt } from "../framing/gatt.ts";
import { createSlcanReader, encodeSlcan } from "../framing/slcan.ts";
import { createCanNode } from "../testing/can-node.ts";
import { createPacketStub, type PacketStub } from "../testing/packet-stub.ts";
import { createSpiStub } from "../testing/spi-stub.ts";
import { slcanBus } from "./can-bus-slcan.ts";
import { type SocketcanLibrary, type SocketcanMessage, socketcanBus } from "./can-bus-socketcan.ts";
import type { LineTaker, OpenLine } from "./line.ts";
import { canLine } from "./line-can.ts";
import { gattLine, type OpenChunks } from "./line-gatt.ts";
import { socketLine } from "./line-socket.ts";
import { spiLine } from "./line-spi.ts";
import { type PacketLineRig, packetLineCases } from "./packet-line-cases.ts";
import { type SpiLibrary, spiDevicePort } from "./spi-port-device.ts";
import { spiSocketPort } from "./spi-port-socket.ts";

/** Somebody behind a Unix socket; `lose` cuts whoever is connected. */
async function listen(serve: (socket: Socket) => void) {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-lines-"));
  const path = join(directory, "line");
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    serve(socket);
  }).listen(path);
  await once(server, "listening");
  const lose = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    path,
    lose,
    mend: () => {},
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      lose();
      await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** As stubs of profile B do it over a UART. */
function inCobs(open: OpenLine): OpenLine {
  return async (taker) => {
    const bytes = createCobsReader({ frame: taker.bytes, dropped: () => {} });
    const line = await open({ ...taker, bytes });
    return { ...line, write: (packet) => line.write(frameCobs(packet)) };
  };
}

packetLineCases("[AX-8.1-1] COBS over a socket", async () => {
  const noise = [Uint8Array.of(0, 7, 1, 2), Uint8Array.of(0xff, 0xff)];
  const stub = createPacketStub({ frame: (packet) => [frameCobs(packet)], noise });
  const listening = await listen((socket) => {
    const frame = (packet: Uint8Array) => {
      for (const piece of stub.piecesOf(packet)) socket.write(piece);
    };
    socket.on("data", createCobsReader({ dropped: () => {}, frame }));
  });
  return { ...listening, stub, open: inCobs(socketLine({ path: listening.path })) };
});

const node = 5;

packetLineCases("[AX-8.1-4] ISO-TP over SLCAN", async () => {
  let stub: PacketStub | undefined;
  const listening = await listen((socket) => {
    const bus = createCanNode(node, (frame) => void socket.write(encodeSlcan(frame)));
    stub = bus.stub;
    socket.on("data", createSlcanReader({ dropped: () => {}, frame: bus.take }));
  });
  const port = socketLine({ path: listening.path });
  const rig: PacketLineRig = {
    ...listening,
    stub: {
      get fault() {
        return stub?.fault;
      },
      set fault(fault) {
        if (stub !== undefined) stub.fault = fault;
      },
    },
    open: canLine({ bus: slcanBus({ port }), node }),
  };
  return rig;
});

packetLineCases("[AX-8.1-4] ISO-TP over SocketCAN's library", async () => {
  let state = "up";
  const channels = new Set<(message: SocketcanMessage) => void>();
  const tell = (message: SocketcanMessage) =>
    setImmediate(() => {
      for (const take of channels) take(message);
    });
  const plain = { ext: false, rtr: false } as const;
  const bus = createCanNode(node, ({ id, data }) => {
    // What is not of a node is on the same bus, and must not be taken for it.
    tell({ id, ext: true, rtr: false, data: Buffer.of(1, 0xff) });
    tell({ id, ext: false, rtr: true, data: Buffer.alloc(0) });
    tell({ id, ...plain, err: true, data: Buffer.alloc(8) });
    tell({ id, ...plain, data: Buffer.from(data) });
  });
  const library: SocketcanLibrary = {
    createRawChannelWithOptions: () => {
      let take: ((message: SocketcanMessage) => void) | undefined;
      let stopped = () => {};
      return {
        addListener: (event: string, listener: never) => {
          if (event === "onMessage") take = listener;
          else stopped = listener;
        },
        start: () => void (take && channels.add(take)),
        stop: () => {
          if (take) channels.delete(take);
          setImmediate(stopped);
        },
        send: ({ id, data }) => {
          setImmediate(bus.take, { id, data: Uint8Array.from(data) });
          return 16;
        },
      };
    },
  };
  return {
    stub: bus.stub,
    lose: () => {
      state = "down";
    },
    mend: () => {
      state = "up";
    },
    open: canLine({
      bus: socketcanBus({ name: "can0", load: async () => library, stateOf: async () => state }),
      node,
    }),
    [Symbol.asyncDispose]: async () => {},
  };
});

packetLineCases("[AX-8.1-3] SPI over a socket", async () => {
  const spi = createSpiStub();
  const listening = await listen((socket) => {
    let heard = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      heard = Buffer.concat([heard, bytes]);
      while (heard.length >= 2 && heard.length >= 2 + heard.readUInt16BE()) {
        const end = 2 + heard.readUInt16BE();
        const said = Buffer.from(spi.transact(heard.subarray(2, end)));
        // In two pieces: a stream has no transactions.
        socket.write(said.subarray(0, 3));
        setImmediate(() => socket.write(said.subarray(3)));
        heard = heard.subarray(end);
      }
    });
  });
  return { ...listening, stub: spi.stub, open: spiLine({ port: spiSocketPort({ path: listening.path }) }) };
});

packetLineCases("[AX-8.1-3] SPI over spidev's library", async () => {
  const spi = createSpiStub();
  let isThere = true;
  const library: SpiLibrary = {
    open: (_bus, _device, _options, done) => {
      setImmediate(done, null);
      return {
        transfer: ([message], done) => {
          if (message === undefined || !isThere)
            return setImmediate(done, new Error("EIO, input/output error"));
          message.receiveBuffer.set(spi.transact(message.sendBuffer));
          return setImmediate(done, null);
        },
        close: (done) => setImmediate(done, null),
      };
    },
  };
  return {
    stub: spi.stub,
    lose: () => {
      isThere = false;
    },
    mend: () => {
      isThere = true;
    },
    open: spiLine({
      port: spiDevicePort({ path: "/dev/spidev0.0", load: async () => library, checkPath: async () => {} }),
    }),
    [Symbol.asyncDispose]: async () => {},
  };
});

packetLineCases("[AX-8.1-2] GATT chunks", async () => {
  const stub = createPacketStub({
    frame: (packet) => encodeGatt(packet),
    noise: [Uint8Array.of(0x45, 1, 2)],
  });
  const users = new Set<LineTaker>();
  const chunks: OpenChunks = async (taker) => {
    users.add(taker);
    const read = createGattReader({
      dropped: () => {},
      frame: (packet) => {
        for (const piece of stub.piecesOf(packet)) setImmediate(() => users.has(taker) && taker.bytes(piece));
      },
    });
    return {
      write: (chunk) => {
        if (users.has(taker)) setImmediate(read, chunk);
        return users.has(taker);
      },
      close: () => void users.delete(taker),
    };
  };
  return {
    stub,
    lose: () => {
      for (const taker of users) {
        users.delete(taker);
        taker.ended("the connection is lost");
      }
    },
    mend: () => {},
    open: gattLine({ chunks }),
    [Symbol.asyncDispose]: async () => {},
  };
});
