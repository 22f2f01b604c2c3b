// What a screen reader says of a room and of what waits: a sentence now and then, however much is said. Pure.

import type { Deck } from "../store/deck.ts";
import type { Row } from "../store/timeline.ts";
import { summaryOf } from "../ui/summary.ts";
import { visibleParts } from "../ui/visible.ts";

export interface Digest {
  /** What is new since it was asked for last; empty where nothing is. */
  next(deck: Deck, topic: string | undefined, rows: readonly Row[]): string;
}

const lineCharsMax = 200;
const countedMax = 10_000;

export function createDigest(): Digest {
  let waiting = 0;
  let last: { topic: string | undefined; row: Row | undefined } | undefined;

  const waitingText = ({ waiting: items }: Deck): string => {
    const newest = items.at(-1);
    if (items.length === waiting) return "";
    waiting = items.length;
    if (newest === undefined) return "Nothing waits for you.";
    return `${items.length} waiting. Newest: ${newest.who} asks to call ${newest.tool}.`;
  };
  const linesText = (topic: string | undefined, rows: readonly Row[]): string => {
    const before = last;
    const row = rows.at(-1);
    last = { topic, row };
    // What was there before anybody looked is no news.
    if (before === undefined || before.topic !== topic || row === undefined || row === before.row) return "";
    const count = countAfter(rows, before.row);
    if (count === 1) return lineText(row);
    const many = count === countedMax ? "Many" : count.toLocaleString("en");
    return `${many} new lines in ${topic}, the last by ${row.envelope.from}.`;
  };
  return {
    next: (deck, topic, rows) =>
      [waitingText(deck), linesText(topic, rows)]
        .filter((text) => text !== "")
        .map(plainText)
        .join(" "),
  };
}

/** Rows behind the one that was the last. */
function countAfter(rows: readonly Row[], row: Row | undefined): number {
  const most = Math.min(rows.length, countedMax);
  for (let count = 0; count < most; count += 1) if (rows[rows.length - 1 - count] === row) return count;
  return most;
}

function lineText({ envelope }: Row): string {
  const { verb, tool = "", text } = summaryOf(envelope);
  // Of a call its name is enough, and its arguments may hold what is secret by its tool's schema.
  const said = [verb, tool, tool === "" ? text : ""].filter((part) => part !== "").join(" ");
  return `${envelope.from}: ${said.slice(0, lineCharsMax)}`;
}

function plainText(text: string): string {
  return visibleParts(text)
    .map((part) => part.text)
    .join("");
}
