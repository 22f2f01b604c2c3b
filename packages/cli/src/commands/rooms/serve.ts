// `mcpx serve ROOM NAME -- CMD…`: any MCP server becomes a participant of a room. How is in `serve/`.
import type { Room } from "@mcpx/client";
import { accessRoom, checkEndpoint, enterRoom } from "../../access/room-access.ts";
import { closedFailure } from "../../access/room-end.ts";
import { checkParticipantId } from "../../config/check-names.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { visible } from "../../framework/visible.ts";
import { type OpenServer, RelayedServer } from "../../rooms/serve/relayed-server.ts";

const { url: _, ...otherGatewayOptions } = gatewayOptions;

const options = {
  url: { type: "string", value: "URL", about: "a server that speaks streamable HTTP, instead of a command" },
  level: {
    type: "string",
    values: ["full", "responder"],
    value: "LEVEL",
    about: "full, or responder, which can send no progress (default: full)",
  },
  ...otherGatewayOptions,
  gateway: { type: "string", value: "URL", about: "another gateway; needs a token" },
} as const;

type ServeContext = Context<typeof options>;

export const serve = defineCommand({
  usage: "ROOM NAME -- CMD… | ROOM NAME --url URL",
  words: { min: 2, max: Number.POSITIVE_INFINITY, values: [["room"], [], ["command"], ["file"]] },
  options,
  examples: [
    [
      "mcpx serve demo everything -- npx -y @modelcontextprotocol/server-everything",
      "a server that is a command",
    ],
    ["mcpx serve demo notes --url http://127.0.0.1:3000/mcp", "a server at an address"],
  ],
  run,
});

async function run(context: ServeContext): Promise<number> {
  const { output, options, words } = context;
  const [topic = "", name = ""] = words;
  checkParticipantId(name);
  const open = readServer(context);
  const place = accessServed(context, name, options.level ?? "full");
  const signal = context.interrupted();
  // A wrong token is found before a server is started for nothing.
  await checkEndpoint(await place.access.enter(), topic);
  const say = (text: string) => output.note(`-- ${text}`);
  const server = new RelayedServer(open, options.url ?? words[2] ?? name, {
    logLine: (line) => output.note(`[${name}] ${visible(line)}`),
    lost: (why, retryMs) =>
      say(`${name} ended (${visible(why)}), starting it again in ${(retryMs / 1_000).toFixed(1)} s`),
    back: () => say(`${name} is back`),
  });
  let room: Room | undefined;
  try {
    await server.start(signal);
    room = await enterRoom(place, { history: 0, signal });
    checkServing(room, name);
    await room.serve(server);
    await announce(context, room, server);
    await untilOver(room, signal, say);
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    throw error;
  } finally {
    await room?.close();
    await server.close();
  }
}

function readServer({ options, words, cwd, env }: ServeContext): OpenServer {
  const { url } = options;
  const [, , command, ...args] = words;
  if ((url === undefined) === (command === undefined)) {
    const fault =
      url === undefined ? "there is no server to serve" : "--url and a command cannot be combined";
    throw misuse(fault, "write mcpx serve ROOM NAME -- CMD…, or --url URL instead of the command");
  }
  if (url !== undefined) {
    const protocol = URL.parse(url)?.protocol;
    if (protocol === "http:" || protocol === "https:")
      return async (taker) => (await import("@mcpx/aggregator")).openHttpWire({ url }, taker);
    throw misuse(
      `--url ${url} is not an http or https address`,
      "write for example http://127.0.0.1:3000/mcp",
    );
  }
  // Our own token is none of its business.
  const { MCPX_TOKEN: _, ...rest } = env;
  return async (taker) =>
    (await import("@mcpx/aggregator")).openStdioWire({ command: command ?? "", args, cwd, env: rest }, taker);
}

function accessServed(context: ServeContext, name: string, level: "full" | "responder") {
  const { options, env } = context;
  const isGiven = options.token !== undefined || Boolean(env.MCPX_TOKEN);
  if (isGiven && options.level !== undefined) {
    throw misuse("--level cannot be combined with --token", "leave it out: the token sets the level");
  }
  const { gateway: url, ...rest } = options;
  const asRoom = { ...rest, url, id: isGiven ? undefined : name };
  const right = { level, kind: "robot", urlOption: "--gateway" } as const;
  return accessRoom({ ...context, options: asRoom }, right);
}

function checkServing(room: Room, name: string): void {
  if (room.id !== name) throw new Failure(`the token is for ${room.id}, not for ${name}`, "use its own name");
  if (room.level === "restricted") {
    throw new Failure(
      `${name} is restricted here and may not answer`,
      "get a token of level responder or full",
    );
  }
}

async function announce({ options, output }: ServeContext, room: Room, server: RelayedServer) {
  const tools = await room.peer(room.id).listTools();
  const { topic, id } = room;
  const names = tools.map((tool) => tool.name);
  if (options.json)
    output.json({ event: "serving", room: topic, id, server: server.serverName, tools: names });
  else {
    const count = `${names.length} tool${names.length === 1 ? "" : "s"}`;
    output.line(`${id} is in ${topic} with ${count} (${visible(server.serverName)}); Ctrl-C ends`);
  }
}

/** Until it is interrupted; throws where the room does not want us any more. */
async function untilOver(room: Room, signal: AbortSignal, say: (text: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) resolve();
  room.addEventListener("state", ({ detail: { state, reason } }) => {
    if (state === "closed") reject(closedFailure(reason));
    else
      say(
        state === "live" ? "back in the room" : `out of the room (${visible(String(reason))}), coming back`,
      );
  });
  room.addEventListener("level", ({ detail }) => {
    if (detail.participant === room.id) say(`now ${detail.new} here, by ${visible(detail.by)}`);
  });
  room.addEventListener("error", ({ detail }) => say(visible(detail.message)));
  if (room.state === "closed") reject(closedFailure(room.reason));
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
