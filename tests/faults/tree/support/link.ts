// A network between two processes: a TCP proxy whose cable is cut, or that stalls without a word and later brings what
// was on its way, as TCP does.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Link {
  readonly url: string;
  /** Everything that has passed from the far side (the parent) so far. */
  readonly brought: string;
  /** Every connection ends, and no new one comes about. */
  cut(): void;
  /** Nothing passes, in either direction, and nobody is told; new connections open, and nothing passes there either. */
  stall(): void;
  /** What was cut can connect again; what was stalled arrives late. */
  heal(): void;
  close(): Promise<void>;
}

export async function startLink(targetUrl: string): Promise<Link> {
  const target = Number(new URL(targetUrl).port);
  const open = new Set<Socket>();
  let state: "whole" | "cut" | "stalled" = "whole";
  let brought = "";
  const server = createServer((near) => {
    if (state === "cut") {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target, "127.0.0.1");
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on("error", end);
      from.on("close", () => {
        open.delete(from);
        end();
      });
      from.on("data", (chunk) => {
        if (from === far) brought += chunk.toString("latin1");
        to.write(chunk);
      });
      if (state === "stalled") from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endAll = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get brought() {
      return brought;
    },
    cut() {
      state = "cut";
      endAll();
    },
    stall() {
      state = "stalled";
      for (const socket of open) socket.pause();
    },
    heal() {
      state = "whole";
      for (const socket of open) socket.resume();
    },
    close() {
      endAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
