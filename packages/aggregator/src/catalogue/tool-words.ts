// The words of tools' texts and of what is asked for, made comparable. Pure.

const textCharsMax = 2_000;
const queryWordsMax = 32;

/** What has no other letters than English. */
const isPlain = /^[ -~\t\r\n]*$/;

const fillers = new Set(
  "a an and are as at be by can could do does for from get give has have how i in into is it its let me my need of on or our please so some tell that the their them there these this to use using want what when where which who will with would you your"
    .split(" ")
    .map(stem),
);

/** Verbs people use for the same thing. */
export const sameMeaning = kinOf([
  "create make new add insert",
  "delete remove erase drop",
  "find search query lookup",
  "list enumerate browse",
  "read view show display open fetch load",
  "write save store",
  "update edit change modify",
  "send post submit",
  "run execute start trigger",
  "stop cancel end",
]);

/** Words as they are compared: `listDirectories_v2` is list, directory, v2. */
export function wordsOf(text: string, stems = new Map<string, string>()): string[] {
  const short = text.slice(0, textCharsMax);
  // Nearly all texts are plain, and those are split faster.
  const parts = isPlain.test(short) ? plainParts(short) : otherParts(short);
  return parts.map((part) => {
    const known = stems.get(part);
    if (known !== undefined) return known;
    const made = stem(part);
    stems.set(part, made);
    return made;
  });
}

function plainParts(text: string): string[] {
  const apart = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return apart.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

function otherParts(text: string): string[] {
  const bare = text.normalize("NFKD").replace(/\p{M}/gu, "");
  const apart = bare
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return apart.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** What a question is about, without what only makes it polite. */
export function wordsAsked(query: string): Set<string> {
  const all = wordsOf(query).slice(0, queryWordsMax);
  const telling = all.filter((word) => !fillers.has(word));
  return new Set(telling.length === 0 ? all : telling);
}

function kinOf(groups: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const families = groups.map((group) => wordsOf(group));
  return new Map(
    families.flatMap((family) => family.map((word) => [word, family.filter((other) => other !== word)])),
  );
}

/** Plurals and the forms of verbs fall together; what is no English word may lose a letter, everywhere alike. */
function stem(word: string): string {
  return withoutEnding(singular(word));
}

function singular(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && /[^su]s$/.test(word) && !word.endsWith("is")) return word.slice(0, -1);
  return word;
}

function withoutEnding(word: string): string {
  if (word.length > 4 && word.endsWith("ied")) return `${word.slice(0, -3)}y`;
  const bare = /ing$/.test(word) ? word.slice(0, -3) : /ed$/.test(word) ? word.slice(0, -2) : word;
  const isVerb = bare !== word && bare.length > 2 && /[aeiouy]/.test(bare);
  const base = isVerb ? bare.replace(/([bdfgmnprt])\1$/, "$1") : word;
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base;
}
