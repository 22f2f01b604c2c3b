// A TCP proxy whose wires can be cut: everything through it breaks, and nothing new comes through until it is mended.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttableProxy {
  readonly port: number;
  cut(isDown: boolean): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<CuttableProxy> {
  const open = new Set<Socket>();
  let isDown = false;
  const server = createServer((near) => {
    if (isDown) return near.destroy();
    const far = connect(target, "127.0.0.1");
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
    return undefined;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (down: boolean) => {
    isDown = down;
    if (down) for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    async close() {
      cut(true);
      server.close();
      await once(server, "close");
    },
  };
}
