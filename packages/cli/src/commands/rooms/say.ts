// `mcpx say ROOM TEXT…`: joins, says it, waits until it is safe, leaves.
import type { Receipt, Room } from "@mcpx/client";
import { accessRoom, enterRoom, roomOptions } from "../../access/room-access.ts";
import { roomFailure } from "../../access/room-end.ts";
import { signingKey, signOption } from "../../access/signatures.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";

const options = {
  ...roomOptions,
  ...signOption,
  key: { type: "string", values: "file", value: "FILE", about: "the key to sign with" },
} as const;

export const say = defineCommand({
  usage: "ROOM TEXT… [--sign]",
  words: { min: 2, max: Number.POSITIVE_INFINITY, values: [["room"], []] },
  options,
  examples: [
    ["mcpx say demo Hello, room", "prints its number in the room, once it is on disk"],
    ["mcpx say demo --id alice --sign Hello", "signed, so that others can verify it"],
    ["mcpx say demo --id alice -- -1 is negative", "text that begins with a dash, after --"],
  ],
  run,
});

const ackMs = 15_000;

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const signal = context.interrupted();
  const room = await enterRoom(accessRoom(context), { history: 0, signal, ...(await signingKey(context)) });
  try {
    const { id, seq, at } = await said(room, words.slice(1).join(" "), signal);
    const epoch = room.position.split(":")[0];
    if (options.json) output.json({ id, seq, epoch, at });
    else output.line(`seq ${seq}`);
    return 0;
  } finally {
    await room.close();
  }
}

async function said(room: Room, text: string, signal: AbortSignal): Promise<Receipt> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unanswered("no answer came in time")), ackMs);
  const onAbort = () => reject(unanswered("interrupted"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([room.say(text), over]);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (room.state === "closed") throw unanswered((roomFailure(error) as Error).message);
    throw new Failure(`not sent: ${(roomFailure(error) as Error).message}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function unanswered(why: string): Failure {
  return new Failure(`not acknowledged: ${why}`, "check with mcpx tail whether it was published");
}
