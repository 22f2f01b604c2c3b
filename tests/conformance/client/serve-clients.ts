// Where the clients of all scenarios run: the suite starts fifty, and starting them is not what it judges.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { isObject, type JsonObject } from "@mcpx/protocol";

/** Uses the server at an address, with what the suite says about it. */
export type Drive = (url: string, context: JsonObject) => Promise<void>;

export interface Clients {
  /** For the suite, which appends the address of a scenario's server. */
  command: string;
  stop(): Promise<void>;
}

/** The suite starts every client at once, and judges by its clock how soon each comes back. */
const clientsAtOnce = 2;

export async function serveClients(drive: Drive): Promise<Clients> {
  const waiting: Socket[] = [];
  let running = 0;
  const next = (): void => {
    const socket = running < clientsAtOnce ? waiting.shift() : undefined;
    if (socket === undefined) return;
    running += 1;
    void answer(socket, drive).finally(() => {
      running -= 1;
      next();
    });
  };
  // The suite kills a client that it has waited for too long.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    waiting.push(socket);
    next();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    command: [process.execPath, join(import.meta.dirname, "ask.mjs"), port].join(" "),
    stop: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(socket: Socket, drive: Drive): Promise<void> {
  const fault = await driven(socket, drive).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  socket.end(JSON.stringify({ fault }));
}

async function driven(socket: Socket, drive: Drive): Promise<void> {
  const { url, context } = (await json(socket)) as { url: string; context: string };
  const read: unknown = JSON.parse(context);
  await drive(url, isObject(read) ? read : {});
}
