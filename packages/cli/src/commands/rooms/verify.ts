// `mcpx verify ROOM [FILE]`: what the signatures in a room's history say, with the gateway or without it.
import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { HistoryReport } from "@mcpx/client/signing";
import { accessRoom, roomOptions } from "../../access/room-access.ts";
import { findingText, keyBookOptions, openKeyBook, verdictText } from "../../access/signatures.ts";
import { checkTopic } from "../../config/check-names.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import type { Output } from "../../framework/output.ts";
import { exportLine, historyIn, historyOf } from "../../rooms/room-history.ts";

const options = {
  ...roomOptions,
  ...keyBookOptions,
  export: { type: "string", values: "file", value: "FILE", about: "write the history to a new file instead" },
} as const;

export const verify = defineCommand({
  usage: "ROOM [FILE] [--keys FILE] [--pin] [--export FILE]",
  words: { min: 1, max: 2, values: [["room"], ["file"]] },
  options,
  examples: [
    ["mcpx verify demo --keys keys.json", "the history of a room, by the keys you trust"],
    ["mcpx verify demo --export demo.jsonl", "the history as a file, byte for byte"],
    ["mcpx verify demo demo.jsonl --keys keys.json", "that file, without a gateway"],
    ["mcpx verify demo --pin", "trust the keys seen first from now on"],
  ],
  run,
});

type VerifyContext = Context<typeof options>;

async function run(context: VerifyContext): Promise<number> {
  const { options, output, words } = context;
  const [topic = "", file] = words;
  if (options.export !== undefined) return await exportHistory(context, file);
  const book = await openKeyBook(context);
  const { verifyHistory } = await import("@mcpx/client/signing");
  const report = await verifyHistory(await textsOf(context, topic, file), topic, book);
  if (options.json) output.json({ room: topic, ...report });
  else tell(output, topic, report, options.pin);
  return report.isSound ? 0 : 1;
}

async function textsOf(
  context: VerifyContext,
  topic: string,
  file: string | undefined,
): Promise<AsyncIterable<string>> {
  if (file === undefined) return historyOf(await accessRoom(context).access.enter(), topic);
  checkTopic(topic);
  return historyIn(resolve(context.cwd, file), file);
}

async function exportHistory(context: VerifyContext, file: string | undefined): Promise<number> {
  const { options, output, words, cwd } = context;
  if (file !== undefined) throw misuse("--export writes a file and does not read one", "leave FILE out");
  const [topic = ""] = words;
  const path = resolve(cwd, options.export ?? "");
  const texts = historyOf(await accessRoom(context).access.enter(), topic);
  let count = 0;
  const lines = async function* () {
    for await (const text of texts) {
      count += 1;
      yield `${exportLine(text)}\n`;
    }
  };
  try {
    await pipeline(lines, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof Failure) throw error;
    throw new Failure(`${options.export} cannot be written (${code})`, "choose another --export FILE");
  }
  if (options.json) output.json({ room: topic, file: path, envelopes: count });
  else output.line(`${countText(count)} of ${topic} in ${options.export}`);
  return 0;
}

function tell({ line, note, paint }: Output, topic: string, report: HistoryReport, hasPinned: boolean): void {
  const { counts, faults, findings, isSound } = report;
  for (const fault of faults) line(paint("red", verdictText(fault)));
  for (const finding of findings) line(paint("red", findingText(finding)));
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  line([`${topic}: ${countText(total)}`, ...parts].join(", "));
  if (!isSound) note("the history is not what its participants signed");
  else if (counts.unpinned !== undefined && hasPinned)
    note("unpinned: the first signature of its sender; that key is pinned from now on");
  else if (counts.unpinned !== undefined)
    note("unpinned: signed by a key that only the gateway vouches for; pin it with --keys or --pin");
}

function countText(count: number): string {
  return `${count} ${count === 1 ? "envelope" : "envelopes"}`;
}
