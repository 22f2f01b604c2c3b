// An unmodified client or framework, driven as its users do, behind one endpoint.
import type { Place } from "./stage.ts";

/** What a model is shown of a result. */
export interface Told {
  text: string;
  /** The client takes it for a failure, or says so to its model. */
  isError: boolean;
}

export interface Session {
  /** The names its model sees, with the client's own prefix. */
  tools(): Promise<string[]>;
  /** By the name its model sees. Comes back also where the client throws. */
  call(tool: string, args: Record<string, unknown>): Promise<Told>;
  close(): Promise<void>;
}

export interface Driver {
  readonly client: string;
  /** The package whose version counts, as npm has it. */
  readonly package: string;
  /** What it does not do, by its own fault, in words for docs/CLIENTS.md. */
  readonly issues?: Readonly<Partial<Record<Cell, string>>>;
  connect(place: Place): Promise<Session>;
}

export const cells = [
  "names",
  "call",
  "structured",
  "image",
  "error",
  "approved",
  "late",
  "rejected",
  "expired",
  "form",
  "room",
  "proposal",
] as const;
export type Cell = (typeof cells)[number];

/** What is thrown is what many frameworks tell their model. */
export async function toldOf(work: () => Promise<Told>): Promise<Told> {
  try {
    return await work();
  } catch (error) {
    return { text: String(error), isError: true };
  }
}
