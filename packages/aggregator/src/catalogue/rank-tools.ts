// Which tools a few words mean: BM25 over the parts of names, titles, descriptions and the names of arguments. Pure.
import { sameMeaning, wordsAsked, wordsOf } from "./tool-words.ts";

export interface ToolText {
  /** Dotted. */
  name: string;
  title: string;
  description: string;
  argumentNames: readonly string[];
}

/** One word, the tools it stands in and how much it counts there. */
interface Postings {
  readonly tools: number[];
  readonly counts: number[];
  /** Of the tools whose own name has it. */
  readonly named: Set<number>;
}

export interface ToolIndex {
  readonly words: ReadonlyMap<string, Postings>;
  /** All words in their order, for those that only begin alike. */
  readonly sorted: readonly string[];
  readonly lengths: Float64Array;
  /** How many words each tool's name has. */
  readonly nameLengths: readonly number[];
  readonly meanLength: number;
  readonly byName: ReadonlyMap<string, number>;
}

export interface Ranked {
  /** Its place in what was indexed. */
  tool: number;
  score: number;
}

const weights = { name: 4, title: 3, argument: 1, description: 1, segment: 2 } as const;
/** How soon more of one word stops to count, and how much length counts against a text. */
const saturation = 1.2;
const lengthPenalty = 0.4;
/** A word that only begins as the one that was asked for. */
const beginningWeight = 0.4;
const beginningCharsMin = 3;
const beginningsMax = 32;
/** Every word that is in the tool's own name is worth so much more. */
const namedFactor = 1.5;
const exactScore = 1_000;
/** Another word for the same. */
const kinWeight = 0.5;

const queryCharsMax = 500;
const argumentsMax = 64;

export function indexTools(tools: readonly ToolText[]): ToolIndex {
  const words = new Map<string, Postings>();
  const lengths = new Float64Array(tools.length);
  const nameLengths: number[] = [];
  const stems = new Map<string, string>();
  tools.forEach((tool, number) => {
    const { counts, named } = countWords(tool, stems);
    nameLengths.push(named.size);
    for (const [word, count] of counts) {
      let postings = words.get(word);
      if (postings === undefined) {
        postings = { tools: [], counts: [], named: new Set() };
        words.set(word, postings);
      }
      postings.tools.push(number);
      postings.counts.push(count);
      if (named.has(word)) postings.named.add(number);
      lengths[number] = (lengths[number] ?? 0) + count;
    }
  });
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return {
    words,
    sorted: [...words.keys()].sort(),
    lengths,
    nameLengths,
    meanLength: total / Math.max(1, tools.length) || 1,
    byName: new Map(tools.map(({ name }, number) => [name.toLowerCase(), number])),
  };
}

/** The best first; those that are equally good in the order of the index. `isWanted` is asked for what is found only. */
export function rankTools(
  index: ToolIndex,
  query: string,
  limit: number,
  isWanted: (tool: number) => boolean = () => true,
): Ranked[] {
  const asked = query.slice(0, queryCharsMax);
  const scores = new Float64Array(index.lengths.length);
  const hits = { texts: new Uint8Array(scores.length), names: new Uint8Array(scores.length) };
  const words = wordsAsked(asked);
  for (const word of words) addScores(index, word, scores, hits);
  // Who has all that was asked for comes before who has one word often, and a name that says nothing else before others.
  scores.forEach((score, tool) => {
    const inText = (hits.texts[tool] as number) / words.size;
    const ofName = (hits.names[tool] as number) / (index.nameLengths[tool] || 1);
    if (score > 0) scores[tool] = score * (1 + inText) * (2 + ofName);
  });
  const exact = index.byName.get(asked.trim().toLowerCase());
  if (exact !== undefined) scores[exact] = (scores[exact] ?? 0) + exactScore;
  const found: Ranked[] = [];
  scores.forEach((score, tool) => {
    if (score > 0) found.push({ tool, score });
  });
  found.sort((a, b) => b.score - a.score || a.tool - b.tool);
  const best: Ranked[] = [];
  for (const one of found) {
    if (best.length >= limit) break;
    if (isWanted(one.tool)) best.push(one);
  }
  return best;
}

interface Hits {
  /** How many of the words asked for stand anywhere in a tool's texts, and how many in its name. */
  texts: Uint8Array;
  names: Uint8Array;
}

function addScores(index: ToolIndex, word: string, scores: Float64Array, hits: Hits): void {
  const best = new Map<number, number>();
  const keep = (tool: number, score: number) => {
    if (score > (best.get(tool) ?? 0)) best.set(tool, score);
  };
  scorePostings(index, word, 1, keep);
  for (const longer of wordsBeginningWith(index.sorted, word)) {
    scorePostings(index, longer, beginningWeight, keep);
  }
  for (const tool of index.words.get(word)?.named ?? []) hits.names[tool] = (hits.names[tool] ?? 0) + 1;
  for (const other of sameMeaning.get(word) ?? []) scorePostings(index, other, kinWeight, keep);
  for (const [tool, score] of best) {
    scores[tool] = (scores[tool] ?? 0) + score;
    hits.texts[tool] = (hits.texts[tool] ?? 0) + 1;
  }
}

function scorePostings(
  { words, lengths, meanLength }: ToolIndex,
  word: string,
  weight: number,
  keep: (tool: number, score: number) => void,
): void {
  const postings = words.get(word);
  if (postings === undefined) return;
  const { tools, counts, named } = postings;
  const rarity = Math.log(1 + (lengths.length - tools.length + 0.5) / (tools.length + 0.5));
  for (let i = 0; i < tools.length; i += 1) {
    const tool = tools[i] as number;
    const count = counts[i] as number;
    const length = (lengths[tool] as number) / meanLength;
    const spread = saturation * (1 - lengthPenalty + lengthPenalty * length);
    const score = (rarity * count * (saturation + 1)) / (count + spread);
    keep(tool, score * weight * (named.has(tool) ? namedFactor : 1));
  }
}

function wordsBeginningWith(sorted: readonly string[], beginning: string): string[] {
  if (beginning.length < beginningCharsMin) return [];
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) <= beginning) low = middle + 1;
    else high = middle;
  }
  const found: string[] = [];
  for (let i = low; i < sorted.length && found.length < beginningsMax; i += 1) {
    const word = sorted[i] as string;
    if (!word.startsWith(beginning)) break;
    found.push(word);
  }
  return found;
}

function countWords(
  tool: ToolText,
  stems: Map<string, string>,
): { counts: Map<string, number>; named: Set<string> } {
  const counts = new Map<string, number>();
  const add = (text: string, weight: number) => {
    const words = wordsOf(text, stems);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + weight);
    return words;
  };
  const dot = tool.name.lastIndexOf(".");
  const segments = add(tool.name.slice(0, Math.max(0, dot)), weights.segment);
  const named = new Set([...segments, ...add(tool.name.slice(dot + 1), weights.name)]);
  add(tool.title, weights.title);
  add(tool.description, weights.description);
  for (const name of tool.argumentNames.slice(0, argumentsMax)) add(name, weights.argument);
  return { counts, named };
}
