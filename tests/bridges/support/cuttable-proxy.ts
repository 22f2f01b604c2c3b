// A TCP proxy whose wires can be cut: everything through it breaks, and nothing new comes through until it is mended.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttableProxy {
  readonly port: number;
  cut(isDown: boolean): void;
  close(): Promise<void>;
}

/** What is said on a wire, to be passed on, changed or held back; `back` answers in the place of the other end. */
export interface Meddler {
  toServer?(text: string, back: (text: string) => void): string;
  /** `again` says more to the same client, at any time. */
  toClient?(text: string, again: (text: string) => void): string;
}

export async function startProxy(target: number, meddler?: Meddler): Promise<CuttableProxy> {
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
    if (meddler === undefined) {
      near.pipe(far);
      far.pipe(near);
      return undefined;
    }
    // Never in the middle of a character.
    near.setEncoding("utf8").on("data", (text) => {
      far.write(meddler.toServer?.(String(text), (back) => near.write(back)) ?? String(text));
    });
    far.setEncoding("utf8").on("data", (text) => {
      near.write(meddler.toClient?.(String(text), (again) => near.write(again)) ?? String(text));
    });
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
