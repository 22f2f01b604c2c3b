// `mcpx tail ROOM`: what happens in a room, line by line.
import { isObject, type JsonObject, visibleJson } from "@mcpx/protocol";
import { accessRoom, roomOptions } from "../../access/room-access.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";
import type { Output } from "../../framework/output.ts";
import { visible } from "../../framework/visible.ts";
import { envelopeLine } from "../../rooms/envelope-line.ts";
import { followRoom, type RoomWatcher } from "../../rooms/follow-room.ts";
import { splitWelcome } from "../../server/welcome.ts";

const options = {
  ...roomOptions,
  history: { type: "string", value: "N", about: "envelopes of the history to show first (default: 10)" },
  follow: { type: "boolean", about: "keep watching; the default" },
  "no-follow": { type: "boolean", about: "show the history and end" },
} as const;

export const tail = defineCommand({
  usage: "ROOM [--history N] [--no-follow]",
  words: { min: 1, max: 1, values: [["room"]] },
  options,
  examples: [
    ["mcpx tail demo", "the last 10 envelopes, then live"],
    ["mcpx tail demo --history 100 --no-follow", "the last 100, and no more"],
    ["mcpx tail demo --json | jq .payload", "each envelope as it came, one per line"],
  ],
  run,
});

/** What is said to this connection alone and means nothing to somebody who watches. */
const quietEvents: readonly unknown[] = ["welcome", "ack", "token_expiring", "draining"];

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const { topic, access } = accessRoom(context);
  const history = readHistory(options.history ?? "10");
  const stop = new AbortController();
  const signal = AbortSignal.any([context.interrupted(), stop.signal]);
  const watch = options.json
    ? jsonWatcher(output)
    : lineWatcher(output, topic, options["no-follow"] ? "" : "; Ctrl-C ends");
  const watcher: RoomWatcher = {
    ...watch,
    text(text, envelope) {
      watch.text(text, envelope);
      if (options["no-follow"] && eventOf(envelope) === "welcome") stop.abort();
    },
  };
  await followRoom(access, { topic, history, signal }, watcher);
  return 0;
}

function jsonWatcher(output: Output): RoomWatcher {
  const print = (text: string) => output.line(visibleJson(text));
  return {
    text(text, envelope) {
      if (eventOf(envelope) !== "welcome") return print(text);
      const { welcome, recent } = splitWelcome(text);
      print(welcome);
      for (const one of recent) print(one);
    },
    lost: (_, retryMs) => output.note(lossText(retryMs)),
  };
}

function lineWatcher(output: Output, topic: string, hint: string): RoomWatcher {
  const print = (envelope: JsonObject) => output.line(envelopeLine(envelope, output, new Date()));
  return {
    text(_, envelope) {
      const event = eventOf(envelope);
      if (event === "welcome" && isObject(envelope.payload))
        greet(envelope.payload, { topic, hint }, output, print);
      else if (!quietEvents.includes(event)) print(envelope);
    },
    lost: (_, retryMs) => output.note(lossText(retryMs)),
  };
}

function greet(
  welcome: JsonObject,
  { topic, hint }: { topic: string; hint: string },
  output: Output,
  print: (envelope: JsonObject) => void,
): void {
  const { participant, participants, history, resumed, reason } = welcome;
  if (resumed !== undefined) {
    const gap = `but what was said meanwhile was missed (${visible(String(reason))})`;
    output.note(`-- back, ${resumed === true ? "nothing was missed" : gap}`);
    return;
  }
  const id = isObject(participant) ? visible(String(participant.id)) : "";
  const others = Array.isArray(participants)
    ? participants.filter(isObject).map((one) => String(one.id))
    : [];
  const company = others.length === 0 ? "nobody else is there" : `with ${visible(others.join(", "))}`;
  output.note(`-- ${topic} as ${id}, ${company}${hint}`);
  const recent = isObject(history) && Array.isArray(history.envelopes) ? history.envelopes : [];
  for (const envelope of recent) if (isObject(envelope)) print(envelope);
}

function lossText(retryMs: number): string {
  return `-- connection lost, trying again in ${(retryMs / 1_000).toFixed(1)} s`;
}

function eventOf({ kind, from, payload }: JsonObject): unknown {
  return kind === "system" && from === "system:gateway" && isObject(payload) ? payload.event : undefined;
}

function readHistory(text: string): number {
  if (/^[0-9]{1,6}$/.test(text)) return Number(text);
  throw misuse(`--history ${text} is not a whole number`, "write for example --history 20");
}
