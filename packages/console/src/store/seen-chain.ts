// What this browser remembers of the chain of approvers: the head it saw last at this origin. An intruder who replaces
// the whole chain, gateway and audit included, does not reach into it; nothing is signed here then until the person
// says that it is right. [B-KEY-2]
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Api } from "./api.ts";
import { type Cell, createCell } from "./cell.ts";

const place = "mcpx-console-seen-chain";

interface Seen {
  aggregator: string;
  n: number;
  hash: string;
}

/** As the gateway tells it; `at`: the hash of the entry that was asked for, where there is one. */
interface Told {
  aggregator: string;
  head: Omit<Seen, "aggregator"> | undefined;
  at: string | undefined;
}

/** Why nothing is signed here; nothing where the chain is the one of last time, or was never seen. */
export const replacedChain: Cell<string | undefined> = createCell(undefined);

/** What is wrong, as a sentence. */
function faultOfChain(seen: Seen | undefined, { aggregator, at }: Told): string | undefined {
  if (seen === undefined || (seen.aggregator === aggregator && seen.hash === at)) return undefined;
  return `The chain of approvers was replaced: entry ${seen.n} is not the one this browser has seen. Nothing is signed here until you say on the page Approvers that this is right.`;
}

/** Before anything about this gate is signed. Throws where it was replaced. */
export async function checkChainAt(api: Api, gate: string): Promise<void> {
  const seen = load();
  const told = await api.post(`/approve/${encodeURIComponent(gate)}/chain`, { n: seen?.n ?? 0 });
  const fault = note(seen, readTold(told, told.at));
  if (fault !== undefined) throw new Error(fault);
}

/** Before anything is signed that is about no gate. Throws where it was replaced. */
export async function checkChain(api: Pick<Api, "call">): Promise<void> {
  noteChain(await api.call("GET", "/admin/approvers/chain"));
  const fault = replacedChain.get();
  if (fault !== undefined) throw new Error(fault);
}

/** For the page that lists it. */
export function noteChain(chain: JsonObject): void {
  const seen = load();
  const entries = Array.isArray(chain.entries) ? chain.entries : [];
  note(seen, readTold(chain, isObject(entries[seen?.n ?? 0]) ? entries[seen?.n ?? 0].hash : undefined));
}

/** The person has looked at it. */
export function acceptChain(chain: JsonObject): void {
  remember(readTold(chain, undefined));
  replacedChain.set(undefined);
}

function note(seen: Seen | undefined, told: Told): string | undefined {
  const fault = faultOfChain(seen, told);
  replacedChain.set(fault);
  if (fault === undefined) remember(told);
  return fault;
}

function remember({ aggregator, head }: Told): void {
  if (head !== undefined) localStorage.setItem(place, JSON.stringify({ aggregator, ...head }));
}

function readTold({ aggregator_id, head }: JsonObject, at: unknown): Told {
  const last = isObject(head) ? { n: Number(head.n), hash: String(head.hash) } : undefined;
  return { aggregator: String(aggregator_id), head: last, at: typeof at === "string" ? at : undefined };
}

function load(): Seen | undefined {
  const text = localStorage.getItem(place);
  return text === null ? undefined : (JSON.parse(text) as Seen);
}
