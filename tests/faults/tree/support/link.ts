// A network between two processes: a TCP proxy whose cable is cut, or that stalls without a word and later brings what
// was on its way, as TCP does.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Link {
  readonly url: string;
  /** How much has come from the near side (the child), whether or not it was passed on. */
  readonly sentBytes: number;
  /** Everything that has come from the far side (the parent), whether or not it was passed on. */
  readonly brought: string;
  /** Every connection ends, and no new one comes about. */
  cut(): void;
  /** Nothing passes, in either direction, no end either, and nobody is told. The same of new connections. */
  stall(): void;
  /** What was cut can connect again; what was on its way arrives late. */
  heal(): void;
  close(): Promise<void>;
}

interface Side {
  readonly from: Socket;
  readonly to: Socket;
  readonly onItsWay: Buffer[];
}

export async function startLink(targetUrl: string): Promise<Link> {
  const target = Number(new URL(targetUrl).port);
  const sides = new Set<Side>();
  let state: "whole" | "cut" | "stalled" = "whole";
  let brought = "";
  let sentBytes = 0;

  function pass(side: Side): void {
    if (state === "stalled") return;
    for (const chunk of side.onItsWay.splice(0)) side.to.write(chunk);
    if (!side.from.closed) return;
    side.to.destroy();
    sides.delete(side);
  }

  function join(from: Socket, to: Socket, heard: (chunk: Buffer) => void): void {
    const side: Side = { from, to, onItsWay: [] };
    sides.add(side);
    from.on("error", () => from.destroy());
    from.on("close", () => pass(side));
    from.on("data", (chunk) => {
      heard(chunk);
      side.onItsWay.push(chunk);
      pass(side);
    });
  }

  const server = createServer((near) => {
    if (state === "cut") {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target, "127.0.0.1");
    join(near, far, (chunk) => {
      sentBytes += chunk.length;
    });
    join(far, near, (chunk) => {
      brought += chunk.toString("latin1");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endAll = () => {
    for (const { from } of sides) from.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sentBytes() {
      return sentBytes;
    },
    get brought() {
      return brought;
    },
    cut() {
      state = "cut";
      endAll();
    },
    stall() {
      state = "stalled";
    },
    heal() {
      state = "whole";
      for (const side of sides) pass(side);
    },
    close() {
      state = "cut";
      endAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
