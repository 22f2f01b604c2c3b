// A TCP proxy that breaks things on purpose: cuts after so many bytes, or falls silent without closing.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface FaultProxy {
  readonly port: number;
  /** The next connection is cut after this many bytes from the server. */
  cutAfter(bytes: number): void;
  /** Nothing passes any more, in either direction, and nobody is told. */
  fallSilent(): void;
  close(): Promise<void>;
}

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  let cutAt = Number.POSITIVE_INFINITY;
  let isSilent = false;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(targetPort, "127.0.0.1");
    let left = cutAt;
    cutAt = Number.POSITIVE_INFINITY;
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        open.delete(socket);
        if (!isSilent) end();
      });
    }
    near.on("data", (chunk) => !isSilent && far.write(chunk));
    far.on("data", (chunk) => {
      if (isSilent) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      near.write(part);
      // Destroyed only after these very bytes have left.
      if (left === 0) near.end(() => near.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutAfter: (bytes) => {
      cutAt = bytes;
    },
    fallSilent: () => {
      isSilent = true;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
