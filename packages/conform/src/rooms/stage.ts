// What the moves of a transcript share while it is played.
import type { Target } from "../target.ts";
import { type Memory, mismatch } from "./matches.ts";
import type { RoomMember } from "./room-member.ts";
import type { Step } from "./transcript.ts";

/** A gateway that can be restarted and whose log can be cut: only where the transcript's player keeps it. */
export interface KeptTarget extends Target {
  restart?(): Promise<void>;
  /** All but the newest `count` envelopes of a topic go. */
  trim?(topic: string, count: number): Promise<void>;
}

export interface Stage {
  readonly target: KeptTarget;
  topic: string;
  readonly tokens: Map<string, string>;
  readonly clients: Map<string, RoomMember>;
  readonly memory: Memory;
  /** By envelope id: the text as it was sent. */
  readonly sent: Map<string, string>;
}

/** `match` holds what the groups of the move's pattern found. */
export type Move = (stage: Stage, match: string[], step: Step) => Promise<void>;

export function createStage(target: KeptTarget): Stage {
  return {
    target,
    topic: "room:test",
    tokens: new Map(),
    clients: new Map(),
    memory: new Map(),
    sent: new Map(),
  };
}

export function clientOf({ clients }: Stage, id = ""): RoomMember {
  const client = clients.get(id);
  if (client === undefined) throw new Error(`${id} is not connected`);
  return client;
}

export function expectMessage({ memory }: Stage, expected: unknown, actual: unknown): void {
  const difference = mismatch(expected, actual, memory);
  if (difference !== undefined) throw new Error(`${difference}\nin ${show(actual)}`);
}

/** Puts remembered values into an address or a query. */
export function filledText({ memory }: Stage, text: string): string {
  return text.replace(/\$[a-z]+/g, (name) => String(memory.get(name) ?? name));
}

export function show(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
