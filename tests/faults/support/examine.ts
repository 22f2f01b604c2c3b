// Looks for what must not be in a topic's history. It finds and does not judge, so that a control can show it finds.
import type { Acknowledged } from "./publisher.ts";

export interface Kept {
  id: string;
  seq: number;
  at: string;
  from: string;
  payload: { text: string };
}

export interface Findings {
  /** Ids acknowledged and not kept, or not as they were said, or elsewhere. */
  lost: string[];
  /** Said once, kept twice. */
  doubled: string[];
  /** Seqs that do not follow the one before. */
  gaps: number[];
  /** Kept before something the same sender had said earlier. */
  disordered: string[];
}

export const nothing: Findings = { lost: [], doubled: [], gaps: [], disordered: [] };

/** The whole history of a topic, oldest first. */
export async function readTopic(url: string, token: string, topic: string): Promise<Kept[]> {
  const kept: Kept[] = [];
  let next: string | undefined = `/v0/topics/${encodeURIComponent(topic)}/history?limit=1000`;
  while (next !== undefined) {
    const response: Response = await fetch(`${url}${next}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    // The topic itself may be what was lost.
    if (response.status === 404) return [];
    const page: { envelopes: Kept[]; next?: string } = JSON.parse(await response.text());
    kept.push(...page.envelopes);
    next = page.next;
  }
  return kept.reverse();
}

/** The texts are a publisher's: its id, a number that counts, and ballast. */
export function examine(kept: readonly Kept[], acknowledged: readonly Acknowledged[]): Findings {
  const found: Findings = { lost: [], doubled: [], gaps: [], disordered: [] };
  const byId = new Map(kept.map((each) => [each.id, each]));
  for (const { id, seq, text } of acknowledged) {
    const there = byId.get(id);
    if (there?.seq !== seq || there.payload.text !== text) found.lost.push(id);
  }
  const texts = new Set<string>();
  const lastOf = new Map<string, number>();
  kept.forEach(({ id, seq, from, payload: { text } }, index) => {
    if (seq !== index + 1) found.gaps.push(seq);
    if (texts.has(text)) found.doubled.push(text);
    texts.add(text);
    const number = Number(text.split(" ")[1]);
    if (number < (lastOf.get(from) ?? 0)) found.disordered.push(id);
    lastOf.set(from, number);
  });
  return found;
}
