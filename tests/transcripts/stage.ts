// What the moves of a transcript share while it is played.
import type { TestClient } from "../support/test-client.ts";
import type { TestServer } from "../support/test-server.ts";
import { type Memory, mismatch } from "./matches.ts";
import type { Step } from "./transcript.ts";

export interface Stage {
  readonly server: TestServer;
  topic: string;
  readonly tokens: Map<string, string>;
  readonly clients: Map<string, TestClient>;
  readonly memory: Memory;
  /** By envelope id: the text as it was sent. */
  readonly sent: Map<string, string>;
}

/** `match` holds what the groups of the move's pattern found. */
export type Move = (stage: Stage, match: string[], step: Step) => Promise<void>;

export function createStage(server: TestServer): Stage {
  return {
    server,
    topic: "room:test",
    tokens: new Map(),
    clients: new Map(),
    memory: new Map(),
    sent: new Map(),
  };
}

export function clientOf({ clients }: Stage, id = ""): TestClient {
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
