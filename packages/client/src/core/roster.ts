// Who is in the room, as the welcome and presence tell it.
import { isId, isLevel, isObject, type JsonObject, type Level } from "@mcpx/protocol";

export interface Participant {
  id: string;
  name?: string;
  kind?: "human" | "agent" | "robot";
  privilege?: Level;
  /** The gateway says that it is its own tree: its gates are real. Nobody can say it of themselves. */
  own?: boolean;
  mcp?: JsonObject;
  key?: JsonObject;
  status?: JsonObject;
}

/** A participant as the gateway lists it; `undefined` where that cannot be read. */
export function readParticipant(value: unknown): Participant | undefined {
  if (!isObject(value) || !isId(value.id)) return undefined;
  const { id, name, kind, privilege, own, mcp, key, status } = value;
  return {
    id,
    ...(typeof name === "string" ? { name } : {}),
    ...(kind === "human" || kind === "agent" || kind === "robot" ? { kind } : {}),
    ...(isLevel(privilege) ? { privilege } : {}),
    ...(own === true ? { own } : {}),
    ...(isObject(mcp) ? { mcp } : {}),
    ...(isObject(key) ? { key } : {}),
    ...(isObject(status) ? { status } : {}),
  };
}

export interface RosterChange {
  event: "join" | "leave";
  participant: Participant;
}

export class Roster {
  readonly #present = new Map<string, Participant>();

  get(id: string): Participant | undefined {
    return this.#present.get(id);
  }

  has(id: string): boolean {
    return this.#present.has(id);
  }

  all(): Participant[] {
    return [...this.#present.values()];
  }

  set(participant: Participant): void {
    this.#present.set(participant.id, participant);
  }

  delete(id: string): void {
    this.#present.delete(id);
  }

  /** Takes the welcome's list; says who came and went unseen meanwhile. */
  replace(listed: readonly Participant[]): RosterChange[] {
    const now = new Map(listed.map((one) => [one.id, one]));
    const left = this.all().filter(({ id }) => !now.has(id));
    const joined = listed.filter(({ id }) => !this.#present.has(id));
    this.#present.clear();
    for (const [id, participant] of now) this.#present.set(id, participant);
    return [
      ...left.map((participant) => ({ event: "leave" as const, participant })),
      ...joined.map((participant) => ({ event: "join" as const, participant })),
    ];
  }
}
