// What `mcpx register` does: a tree of one server, which it starts itself, registered under a segment of another.
import { randomUUID } from "node:crypto";
import { createTree, openLink, type RunningTree, registerAt } from "@mcpx/aggregator";
import { RoomError } from "@mcpx/client/subserver";
import { createLogger, type Logger, systemClock } from "@mcpx/host";
import { defaultLimits, isObject } from "@mcpx/protocol";
import type { RegisterContext } from "../commands/tree/register.ts";
import { segmentUuid } from "../config/segment-uuid.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { Failure } from "../framework/failure.ts";
import { version } from "../framework/version.ts";
import { visible } from "../framework/visible.ts";
import { type RegisterWish, readRegister } from "./register-options.ts";

export async function runRegister(context: RegisterContext): Promise<number> {
  const { output, options } = context;
  const wish = readRegister(context);
  const { segment } = wish;
  const log = createLogger({ level: "warn", pretty: output.isErrorTerminal });
  const signal = context.interrupted();
  const tree = treeOf(context, wish, log);
  const parent = registerAt(wish.parent, {
    subserverId: idFor(context, segment),
    tree,
    subtreeIds: undefined,
    clock: systemClock,
    log,
    limits: defaultLimits,
    onState: (state, error) => say(context, segment, state, error),
  });
  signal.addEventListener("abort", () => void parent.close(), { once: true });
  try {
    const { registered, ended } = parent.registration;
    const answer = await registered.catch(() => undefined);
    if (answer !== undefined && options.json) output.json({ event: "registered", ...answer });
    const error = await ended;
    if (error !== undefined) throw new Failure(error.message, adviceOf(error));
    return 0;
  } finally {
    await tree.close();
  }
}

/** What its server says of itself is for the tree above to believe or not. */
function treeOf({ output }: RegisterContext, { segment, transport }: RegisterWish, log: Logger): RunningTree {
  return createTree({
    name: "mcpx",
    version,
    servers: [
      {
        name: segment,
        segment: undefined,
        origin: { kind: "configured" },
        isTrusted: true,
        isUnpinned: true,
        callMs: 0,
        listMs: 60_000,
        open: (opening, taker) =>
          openLink(
            { name: segment, transport, ...opening },
            { ...taker, logLine: (line) => output.note(`[${segment}] ${visible(line)}`) },
          ),
      },
    ],
    clock: systemClock,
    log,
    secret: Buffer.from(randomUUID()),
    isBridge: true,
  });
}

function say({ output, options }: RegisterContext, segment: string, state: string, error?: Error): void {
  if (options.json) return;
  if (state === "registered") output.line(`${segment} is part of the tree; Ctrl-C ends`);
  else if (state === "waiting") {
    output.note(`-- not registered: ${visible(error?.message ?? "lost")}; trying again`);
  }
}

/** What the aggregator suggests, such as the command that makes the token. */
function adviceOf(error: Error): string {
  const { suggestion } = error instanceof RoomError && isObject(error.data) ? error.data : {};
  return typeof suggestion === "string"
    ? visible(suggestion)
    : "see mcpx tree there, and mcpx token --segment";
}

/** A `subserver_id` that stays the same over restarts. */
function idFor(context: RegisterContext, segment: string): string {
  return segmentUuid(dataDirOf(context, context.options), segment);
}
