// Names that could be taken for others: letters of another alphabet that look like Latin ones, several alphabets in one
// name, signs nobody sees. Only letters that are drawn alike in common fonts; the whole of Unicode's table is for
// registrars of domain names. Pure.
import { visibleText } from "./visible-text.ts";

/** Latin letter or letters → what looks like it. */
const alike: Readonly<Record<string, string>> = {
  a: "аα",
  b: "ЬƄ",
  c: "сϲᴄ",
  d: "ԁꓒ",
  e: "еҽ℮",
  f: "ғƒ",
  g: "ɡց",
  h: "һհ",
  i: "іıɩι",
  j: "јϳ",
  k: "κкᴋ",
  l: "ӏⅼ|ǀ∣Ӏ",
  m: "мᴍ",
  n: "ոռпη",
  o: "оοօσᴏ",
  p: "рρ",
  q: "ԛզ",
  r: "гᴦ",
  s: "ѕꜱ",
  t: "тτᴛ",
  u: "սυᴜ",
  v: "νѵᴠ",
  w: "ԝωѡᴡ",
  x: "хχ×",
  y: "уγүყ",
  z: "ᴢʐ",
  A: "АΑᎪ",
  B: "ВΒᏴ",
  C: "СϹᏟ",
  D: "Ꭰ",
  E: "ЕΕᎬ",
  G: "ԌᏀ",
  H: "НΗᎻ",
  I: "ІΙ",
  J: "ЈᎫ",
  K: "КΚᏦ",
  L: "Ꮮ",
  M: "МΜᎷ",
  N: "Ν",
  O: "ОΟՕ",
  P: "РΡᏢ",
  S: "ЅᏚՏ",
  T: "ТΤᎢ",
  V: "ᏙѴ",
  W: "ᎳԜ",
  X: "ХΧ",
  Y: "ΥҮ",
  Z: "ΖᏃ",
};

const latin: ReadonlyMap<string, string> = new Map(
  Object.entries(alike).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
);

/** What the eye keeps of a name: the same for names that look the same. */
function skeletonOf(name: string): string {
  const seen = visibleText(name.normalize("NFKC"))
    .filter(({ mark }) => mark === undefined)
    .map(({ text }) => text)
    .join("");
  const letters = [...seen.normalize("NFD")].map((char) => latin.get(char) ?? char).join("");
  // In many fonts the capital I, the small l and the digit one are one stroke.
  return letters
    .replace(/[I1]/g, "l")
    .replace(/0/g, "o")
    .toLowerCase()
    .replaceAll("rn", "m")
    .normalize("NFC");
}

/** The first of the others that the name could be taken for. */
export function looksLike(name: string, others: Iterable<string>): string | undefined {
  const skeleton = skeletonOf(name);
  for (const other of others) if (other !== name && skeletonOf(other) === skeleton) return other;
  return undefined;
}

/** For each name of a list that looks like another one in it, which; names that came first are the ones imitated. */
export function imitationsAmong(names: Iterable<string>): Map<string, string> {
  const first = new Map<string, string>();
  const found = new Map<string, string>();
  for (const name of new Set(names)) {
    const skeleton = skeletonOf(name);
    const before = first.get(skeleton);
    if (before === undefined) first.set(skeleton, name);
    else found.set(name, before);
  }
  return found;
}

const scripts = [
  { name: "Latin", shape: /\p{Script=Latin}/u },
  { name: "Cyrillic", shape: /\p{Script=Cyrillic}/u },
  { name: "Greek", shape: /\p{Script=Greek}/u },
  { name: "Armenian", shape: /\p{Script=Armenian}/u },
  { name: "Cherokee", shape: /\p{Script=Cherokee}/u },
  { name: "Han", shape: /\p{Script=Han}/u },
  { name: "Hebrew", shape: /\p{Script=Hebrew}/u },
  { name: "Arabic", shape: /\p{Script=Arabic}/u },
] as const;

/** Why a name could be taken for another: letters of several alphabets, or signs nobody sees. */
export function suspicionOf(name: string): string | undefined {
  if (visibleText(name).some(({ mark }) => mark !== undefined)) {
    return "This name has signs in it that cannot be seen";
  }
  const used = scripts.filter(({ shape }) => shape.test(name)).map((one) => one.name);
  if (used.length > 1) return `This name mixes alphabets: ${used.join(" and ")}`;
  const [only] = used;
  if (only !== undefined && only !== "Latin") return `This name is written in ${only} letters`;
  return name.normalize("NFKC") === name ? undefined : "This name is not written in plain letters";
}

const wordsMax = 5;

/** Words of a text in which a letter of another alphabet stands for the Latin one it looks like. */
export function mixedWords(text: string): string[] {
  const found = new Set<string>();
  for (const [word] of text.matchAll(/[\p{L}\p{M}]+/gu)) {
    if (found.size >= wordsMax) break;
    if (/[A-Za-z]/.test(word) && [...word].some((char) => latin.has(char))) found.add(word);
  }
  return [...found];
}

/** Letters that are written from right to left: terminals that know them show a line in another order. */
export function isRightToLeft(text: string): boolean {
  return /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(text);
}
