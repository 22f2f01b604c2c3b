// `mcpx service launch`: the launcher of one user, started by systemd with the socket it listens at. It starts servers as
// the user it runs as, for the gateway alone, who is the only one that may open the socket. [B-KEY-3]
import { createServer, type Socket } from "node:net";
import { serveLaunch } from "@mcpx/aggregator";
import { type Context, defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";

/** Where systemd puts the first socket it hands over. */
const firstSocket = 3;

export const serviceLaunch = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: {},
  examples: [["mcpx service launch", "started by systemd, with a socket; nobody types it"]],
  run,
});

async function run({ env, interrupted }: Context): Promise<number> {
  if (env.LISTEN_PID !== String(process.pid) || env.LISTEN_FDS !== "1") {
    throw misuse(
      "there is no socket to listen at",
      "systemd starts this: sudo mcpx service install --run-as USER",
    );
  }
  if (process.getuid?.() === 0) throw misuse("a launcher does not run as root", "name another user");
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    serveLaunch(socket, { path: env.PATH });
  });
  server.listen({ fd: firstSocket });
  const stop = interrupted();
  const { promise, resolve } = Promise.withResolvers<void>();
  if (stop.aborted) resolve();
  stop.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  server.close();
  // What was started ends with its connection.
  for (const socket of open) socket.destroy();
  return 0;
}
