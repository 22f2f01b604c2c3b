// `mcpx say ROOM TEXT…`: joins, says it, waits until it is safe, leaves.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { endFailure } from "../follow-room.ts";
import { accessRoom, roomOptions } from "../room-access.ts";
import { connectRoom } from "../room-socket.ts";
import { visible } from "../visible.ts";

export const say = defineCommand({
  name: "say",
  summary: "say something in a room",
  usage: "ROOM TEXT…",
  words: { min: 2, max: Number.POSITIVE_INFINITY },
  options: roomOptions,
  examples: [
    ["mcpx say demo Hello, room", ""],
    ["mcpx say demo --id alice -- -1 is negative", "text that begins with a dash, after --"],
  ],
  run,
});

const ackMs = 15_000;

async function run(context: Context<typeof roomOptions>): Promise<number> {
  const { options, output, words } = context;
  const { topic, access } = accessRoom(context);
  const answers = Promise.withResolvers<JsonObject>();
  let sent: string | undefined;
  const socket = await connectRoom(access, {
    topic,
    onText(text) {
      const answer = sent === undefined ? undefined : answerTo(sent, text);
      if (answer !== undefined) answers.resolve(answer);
    },
  });
  sent = socket.send("chat", { text: words.slice(1).join(" ") });
  const timer = setTimeout(() => answers.reject(unanswered("no answer came in time")), ackMs);
  const end = socket.ended.then((end) => {
    throw unanswered(endFailure(end).message);
  });
  try {
    const { seq, epoch, at } = accepted(await Promise.race([answers.promise, end, aborted(context)]));
    if (options.json) output.json({ id: sent, seq, epoch, at });
    else output.line(`seq ${seq}`);
    return 0;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

/** The gateway's ack or error for our envelope. */
function answerTo(id: string, text: string): JsonObject | undefined {
  const envelope: unknown = JSON.parse(text);
  if (!isObject(envelope) || envelope.from !== "system:gateway") return undefined;
  return envelope.correlation_id === id && isObject(envelope.payload) ? envelope.payload : undefined;
}

function accepted(answer: JsonObject): JsonObject {
  if (answer.event === "ack") return answer;
  const { suggestion } = isObject(answer.data) ? answer.data : {};
  const fix = typeof suggestion === "string" ? visible(suggestion) : undefined;
  throw new Failure(`not said: ${visible(String(answer.message))}`, fix);
}

function unanswered(why: string): Failure {
  return new Failure(`not acknowledged: ${why}`, "look with mcpx tail whether it was said");
}

function aborted({ interrupted }: Context<typeof roomOptions>): Promise<never> {
  const signal = interrupted();
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(unanswered("interrupted")), { once: true });
  });
}
