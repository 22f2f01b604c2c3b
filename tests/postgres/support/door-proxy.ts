// A TCP proxy before a server that can be shut and opened again, or fall silent without closing.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface DoorProxy extends AsyncDisposable {
  readonly port: number;
  /** Every connection is reset, and new ones are too. */
  shut(): void;
  /** Nothing passes any more, in either direction, and nobody is told. */
  fallSilent(): void;
  /** New connections pass; those that were silent stay so. */
  open(): void;
}

export async function startDoorProxy(target: number): Promise<DoorProxy> {
  let state: "open" | "shut" | "silent" = "open";
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  const server = createServer((near) => {
    if (state === "shut") return void near.resetAndDestroy();
    const far = connect(target, "127.0.0.1");
    const pair = [near, far];
    if (state === "silent") for (const socket of pair) silent.add(socket);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (chunk) => !silent.has(from) && to.write(chunk));
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        if (!silent.has(from)) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    shut: () => {
      state = "shut";
      for (const socket of sockets) socket.resetAndDestroy();
    },
    fallSilent: () => {
      state = "silent";
      for (const socket of sockets) silent.add(socket);
    },
    open: () => {
      state = "open";
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
