// A broker as far as a subscription, by hand: one that refuses is not to be had otherwise.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { mqttLine } from "./line-mqtt.ts";

const connect = 1;
const subscribe = 8;
const accepted = 1;
const refused = 0x80;

async function startBroker(answer: number) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes) => {
      const kind = (bytes[0] as number) >> 4;
      if (kind === connect) socket.write(Buffer.of(0x20, 2, 0, 0));
      if (kind === subscribe) {
        socket.write(Buffer.of(0x90, 4, bytes[2] as number, bytes[3] as number, answer, answer));
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.size,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

test("[AX-8.1-5] a subscription that is refused leaves no connection behind", async () => {
  await using broker = await startBroker(refused);
  const ends: string[] = [];
  const open = mqttLine({ url: broker.url, name: "lamp" });
  for (let times = 0; times < 3; times += 1) {
    await expect(open({ bytes: () => {}, ended: (why) => ends.push(why) })).rejects.toThrow();
  }
  expect(broker.connections()).toBe(3);
  await expect.poll(broker.open).toBe(0);
  expect(ends).toEqual([]);
});

test("control: one that is accepted keeps its connection, until it is closed", async () => {
  await using broker = await startBroker(accepted);
  const line = await mqttLine({ url: broker.url, name: "lamp" })({ bytes: () => {}, ended: () => {} });
  expect(broker.open()).toBe(1);
  line.close();
  await expect.poll(broker.open).toBe(0);
});
