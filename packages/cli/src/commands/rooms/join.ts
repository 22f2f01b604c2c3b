// `mcpx join ROOM`: a chat line in the terminal. What its own commands do is in `join/`.
import { createToolLists, type Room } from "@mcpx/client";
import { type JsonObject, levels, visibleJson } from "@mcpx/protocol";
import { accessRoom, enterRoom, roomOptions } from "../../access/room-access.ts";
import { closedFailure, roomFailure } from "../../access/room-end.ts";
import { signingKey, signOption } from "../../access/signatures.ts";
import { checkNeedsPerson } from "../../access/signer.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { Failure, failureText, misuse } from "../../framework/failure.ts";
import type { InputLines } from "../../framework/input.ts";
import { visible } from "../../framework/visible.ts";
import { gateOptions, keyPathOf, signWith } from "../../gates/decide-gate.ts";
import { announce } from "../../rooms/join/announce.ts";
import { type ChatLine, ProposalNumbers } from "../../rooms/join/chat-line.ts";
import { obey } from "../../rooms/join/obey.ts";
import { parseLine, verbNames } from "../../rooms/join/parse-line.ts";
import { Question } from "../../rooms/join/question.ts";

const options = {
  ...roomOptions,
  ...gateOptions,
  ...signOption,
  level: {
    type: "string",
    values: levels,
    value: "LEVEL",
    about: "full, responder or restricted (default: full)",
  },
  tools: {
    type: "string",
    values: "tool",
    multiple: true,
    value: "GLOB",
    about: "tools of a tree in the room it may see and call",
  },
  yes: { type: "boolean", about: "send calls of /call without asking; scripts need it" },
} as const;

export const join = defineCommand({
  usage: "ROOM [--id ID] [--level LEVEL] [--tools GLOB…] [--sign] [--yes]",
  words: { min: 1, max: 1, values: [["room"]] },
  options,
  examples: [
    ["mcpx join demo --id alice", "type to talk; /help shows what else"],
    [
      "mcpx join demo --id alice --sign",
      "sign every envelope, so that others can verify it; make a key with mcpx key new",
    ],
    ["mcpx join demo --level restricted", "talk and propose, but call nothing"],
    [`echo '/call oven heat {"celsius": 220}' | mcpx join demo --yes`, "from a script; ends with the input"],
  ],
  run,
});

type JoinContext = Context<typeof options>;

async function run(context: JoinContext): Promise<number> {
  const { options } = context;
  const { level, tools } = options;
  const place = accessRoom(context, { level: level ?? "full", tools });
  if ((level !== undefined || tools.length > 0) && !place.access.mintsTokens) {
    const given = level === undefined ? "--tools" : "--level";
    throw misuse(
      `${given} cannot be combined with --token`,
      "leave it out: the token sets the level and tools",
    );
  }
  const signal = context.interrupted();
  const room = await enterRoom(place, { signal, ...(await signingKey(context)) });
  const input = context.input().open({
    prompt: `${room.topic}> `,
    complete: (line) => completions(room, line),
    isPlain: options.json,
  });
  const leaving = new AbortController();
  const leave = () => {
    leaving.abort();
    input.close();
  };
  signal.addEventListener("abort", leave, { once: true });
  room.addEventListener("state", ({ detail }) => detail.state === "closed" && leave());
  const question = new Question();
  const chat = createChat(context, room, input, { signal: leaving.signal, question });
  try {
    greet(chat);
    announce(chat);
    const failures = await converse(chat, input, { isTerminal: context.input().isTerminal, question });
    if (room.state === "closed") throw closedFailure(room.reason);
    return failures > 0 && !context.input().isTerminal ? 1 : 0;
  } finally {
    leave();
    await room.close();
  }
}

function createChat(
  context: JoinContext,
  room: Room,
  input: InputLines,
  { signal, question }: { signal: AbortSignal; question: Question },
): ChatLine {
  const { options, output } = context;
  const tell = (lines: readonly string[], event: JsonObject) => {
    if (options.json) input.print(visibleJson(JSON.stringify(event)));
    else if (lines.length > 0) input.print(lines.join("\n"));
  };
  const confirm = async (text: string, event: JsonObject) => {
    if (options.yes) return true;
    if (!context.input().isTerminal) {
      throw new Failure(
        "/call asks before it sends, and there is no terminal to ask",
        "mcpx join ROOM --yes",
      );
    }
    tell([output.paint("yellow", `?? ${text} y sends it, anything else does not`)], event);
    return question.ask(signal);
  };
  const signer: ChatLine["signer"] = async (gate, decision, reason) => {
    const { of, sign } = signWith(context, keyPathOf(context));
    // A script is a program alone; a no of one is safe.
    if (decision === "approve" && !context.input().isTerminal) checkNeedsPerson(of, context);
    return input.aside(() => sign(gate, decision, reason));
  };
  const numbers = new ProposalNumbers();
  return { room, output, numbers, tools: createToolLists(room), signal, signer, confirm, tell };
}

function greet({ room, output, numbers, tell }: ChatLine): void {
  const { topic, id, level, peers } = room;
  const pending = room.proposals.pending();
  for (const proposal of pending) numbers.of(proposal.id);
  const others = visible(peers.map((peer) => peer.id).join(", "));
  const company = peers.length === 0 ? "nobody else is here" : `with ${others}`;
  const lines = [`-- ${topic} as ${visible(id)} (${level}), ${company}; /help shows what can be done`];
  if (pending.length > 0) lines.push(`-- ${pending.length} pending: /pending`);
  tell(
    lines.map((line) => output.paint("dim", line)),
    { event: "joined", room: topic, id, level, peers, pending: pending.length },
  );
}

/** Until the input ends or somebody leaves; resolves to how many commands failed. */
async function converse(
  chat: ChatLine,
  input: InputLines,
  { isTerminal, question }: { isTerminal: boolean; question: Question },
): Promise<number> {
  let failures = 0;
  for await (const text of input.lines) {
    if (question.take(text)) continue;
    const done = answer(chat, text).catch((error: unknown) => {
      if (chat.signal.aborted) return true;
      failures += 1;
      tellFailure(chat, text, error);
      return true;
    });
    // A person goes on typing while a call takes its time; a script means one after the other.
    if (isTerminal && !isQuit(text)) continue;
    if (!(await done)) break;
  }
  return failures;
}

/** Resolves to whether to go on. */
async function answer(chat: ChatLine, text: string): Promise<boolean> {
  const line = parseLine(text);
  if (line.verb === "quit") return false;
  await obey(chat, line);
  return true;
}

function isQuit(text: string): boolean {
  return text.trim() === "/quit";
}

function tellFailure({ output, tell }: ChatLine, text: string, error: unknown): void {
  const failure = error instanceof Failure ? error : roomFailure(error);
  const line = failureText(failure, false)
    .trimEnd()
    .replace(/^mcpx: /, "");
  tell([output.paint("red", `!! ${line}`)], { event: "failed", line: text, message: line });
}

function completions({ peers }: Room, line: string): string[] {
  const words = line.split(" ");
  const last = words.at(-1) ?? "";
  const known = words.length === 1 ? verbNames : line.startsWith("/") ? peers.map(({ id }) => id) : [];
  return known.filter((word) => word.startsWith(last)).map((word) => `${word} `);
}
