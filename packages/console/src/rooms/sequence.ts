// A conversation as a sequence: who takes part, in columns; what each envelope is, as an arrow; which answer belongs to
// which call, and what is about which proposal. Pure.
import { ProposalTracker, type RoomEnvelope } from "@mcpx/client";
import { isObject, parseKind } from "@mcpx/protocol";
import type { Row } from "../store/timeline.ts";

type ArrowKind = "call" | "answer" | "fault" | "proposal" | "no" | "word" | "chat" | "note";

interface Column {
  /** `undefined`: everybody who has no column of their own. */
  readonly id: string | undefined;
  /** How many stand in it. */
  readonly count: number;
}

export interface Arrow {
  readonly row: Row;
  readonly kind: ArrowKind;
  /** Columns, by their place. A note is only about the first. */
  readonly from: number;
  readonly to: readonly number[];
  readonly isToAll: boolean;
  /** The arrow of the call that it answers, by its place. */
  readonly answers: number | undefined;
  /** Since that call. */
  readonly tookMs: number | undefined;
  /** Which of the proposals of the picture it is about, from 1. */
  readonly proposal: number | undefined;
  /** It is the proposed call. */
  readonly isFulfilment: boolean;
}

/** Somebody works on a call. */
interface Activation {
  readonly column: number;
  readonly from: number;
  /** `undefined`: there is no answer yet. */
  readonly to: number | undefined;
}

export interface Sequence {
  readonly columns: readonly Column[];
  readonly arrows: readonly Arrow[];
  readonly activations: readonly Activation[];
  /** How many came before those that are drawn. */
  readonly leftOut: number;
}

export const arrowsMax = 200;
export const columnsMax = 9;
const gateway = "system:gateway";

/** Of the last of these rows; oldest first, as they are. */
export function sequenceOf(rows: readonly Row[], max = arrowsMax): Sequence {
  const drawn = rows.slice(-max);
  const columns = columnsOf(drawn.map(({ envelope }) => envelope));
  const places = new Map(columns.map(({ id }, place) => [id, place]));
  const placeOf = (id: string) => places.get(id) ?? columns.length - 1;
  const about = proposalsOf(drawn);
  const asked = new Map<string, number>();
  const arrows: Arrow[] = [];
  for (const row of drawn) {
    const { envelope } = row;
    const kind = kindOf(envelope);
    if (kind === "call") asked.set(envelope.id, arrows.length);
    const answers = isReply(kind) ? asked.get(envelope.correlation_id ?? "") : undefined;
    const question = answers === undefined ? undefined : arrows[answers];
    const from = placeOf(kind === "note" ? subjectOf(envelope) : envelope.from);
    const isToAll = kind !== "note" && (envelope.to ?? []).length === 0;
    const all = isToAll ? columns.map((_, place) => place) : (envelope.to ?? []).map(placeOf);
    arrows.push({
      row,
      kind,
      from,
      to: kind === "note" ? [] : [...new Set(all)].filter((place) => !isToAll || place !== from),
      isToAll,
      answers,
      tookMs: question && Math.max(0, row.at - question.row.at),
      proposal: about.get(envelope.id)?.number ?? question?.proposal,
      isFulfilment: about.get(envelope.id)?.isFulfilment === true,
    });
  }
  return { columns, arrows, activations: activationsOf(arrows), leftOut: rows.length - drawn.length };
}

function kindOf({ kind, payload }: RoomEnvelope): ArrowKind {
  switch (parseKind(kind)?.kind) {
    case "chat":
      return "chat";
    case "presence":
    case "system":
      return "note";
    case "mcp/proposal":
      return "proposal";
    case "mcpx.reject.proposal":
      return "no";
    case "mcp":
      if (typeof payload.method === "string") return payload.id === undefined ? "word" : "call";
      return isFault(payload) ? "fault" : "answer";
    default:
      return "word";
  }
}

function isFault({ error, result }: RoomEnvelope["payload"]): boolean {
  return error !== undefined || (isObject(result) && result.isError === true);
}

function isReply(kind: ArrowKind): boolean {
  return kind === "answer" || kind === "fault";
}

/** Whom the gateway speaks of. */
function subjectOf({ from, payload: { participant } }: RoomEnvelope): string {
  if (from !== gateway) return from;
  if (typeof participant === "string") return participant;
  return isObject(participant) && typeof participant.id === "string" ? participant.id : "";
}

/** In the order they first appear; those who have least to do with it share one where there are too many. */
function columnsOf(envelopes: readonly RoomEnvelope[]): Column[] {
  const weights = new Map<string, number>();
  const weigh = (id: string, weight: number) => {
    if (id !== "" && id !== gateway) weights.set(id, (weights.get(id) ?? 0) + weight);
  };
  for (const envelope of envelopes) {
    const isNote = kindOf(envelope) === "note";
    // Participants who only join and leave count less than those who talk.
    weigh(isNote ? subjectOf(envelope) : envelope.from, isNote ? 1 : 10);
    for (const id of isNote ? [] : (envelope.to ?? [])) weigh(id, 10);
  }
  if (weights.size <= columnsMax) return [...weights.keys()].map((id) => ({ id, count: 1 }));
  const heaviest = [...weights].sort(([, a], [, b]) => b - a).slice(0, columnsMax - 1);
  const own = new Set(heaviest.map(([id]) => id));
  return [
    ...[...weights.keys()].filter((id) => own.has(id)).map((id) => ({ id, count: 1 })),
    { id: undefined, count: weights.size - own.size },
  ];
}

interface About {
  number: number;
  isFulfilment: boolean;
}

/** Which envelopes are about which proposal, by their ids. */
function proposalsOf(rows: readonly Row[]): Map<string, About> {
  const tracker = new ProposalTracker();
  const numbers = new Map<string, number>();
  const about = new Map<string, About>();
  for (const { envelope, at } of rows) {
    for (const { type, proposal } of tracker.observe(envelope, at)) {
      if (type === "proposed") numbers.set(proposal.id, numbers.size + 1);
      const number = numbers.get(proposal.id);
      // What time ended is nobody's envelope.
      if (type !== "expired" && number !== undefined)
        about.set(envelope.id, { number, isFulfilment: type === "fulfilled" });
    }
  }
  return about;
}

/** Calls to one, from when they were made until they were answered. */
function activationsOf(arrows: readonly Arrow[]): Activation[] {
  const answered = new Map<number, number>();
  arrows.forEach(({ answers }, place) => {
    if (answers !== undefined && !answered.has(answers)) answered.set(answers, place);
  });
  return arrows.flatMap(({ kind, to }, from) => {
    const [column] = to;
    return kind === "call" && column !== undefined ? [{ column, from, to: answered.get(from) }] : [];
  });
}
