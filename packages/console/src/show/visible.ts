// A text in which nothing hides: what an eye would not see, or what would reorder what it sees, is named instead; and
// names that could be taken for others are found out. Pure.

export interface TextPart {
  text: string;
  /** Stands for something that would not be seen. */
  isMark: boolean;
}

// Controls, bidi and other format signs, halves of characters, private and unassigned ones, spaces that are not the
// plain one, fillers and selectors that look like nothing.
const hidden = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\u115f\u1160\u3164\uffa0]|(?! )\p{Z}/u;
const plainOnly = /^[ -~]*$/;
const accent = /\p{M}/u;
const accentsMax = 2;
const names: Readonly<Record<string, string>> = { "\n": "↵", "\t": "⇥", "\r": "␍" };

/** `keepsLines`: lines break where they are broken. */
export function visibleParts(text: string, keepsLines = false): TextPart[] {
  // Most of what is said; looking at every sign costs a loud room its frames.
  if (isPlain(text)) return text === "" ? [] : [{ text, isMark: false }];
  const parts: TextPart[] = [];
  let plain = "";
  let accents = 0;
  const flush = () => {
    if (plain !== "") parts.push({ text: plain, isMark: false });
    plain = "";
  };
  for (const char of text) {
    accents = accent.test(char) ? accents + 1 : 0;
    // Heaped accents would be drawn over what stands above.
    if (!hidden.test(char) && accents <= accentsMax) {
      plain += char;
      continue;
    }
    if (char === "\n" && keepsLines) {
      plain += char;
      continue;
    }
    flush();
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    parts.push({ text: names[char] ?? `U+${code}`, isMark: true });
  }
  flush();
  return parts;
}

/** For between quotes: nothing in it ends them, and where its lines break is named. */
export function quotedParts(text: string): TextPart[] {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return visibleParts(escaped).map((part) =>
    part.isMark && part.text === names["\n"] ? { ...part, text: `${part.text}\n` } : part,
  );
}

/** Letters, digits and signs that everybody has, and nothing else. */
export function isPlain(text: string): boolean {
  return plainOnly.test(text);
}

/** The beginning and the end of what is long; halves of a character stay together. */
export function cut(text: string, max: number): { head: string; hidden: number; tail: string } {
  if (text.length <= max) return { head: text, hidden: 0, tail: "" };
  const tailChars = Math.floor(max / 4);
  const end = wholeAt(text, text.length - tailChars);
  const start = wholeAt(text, max - tailChars);
  return { head: text.slice(0, start), hidden: end - start, tail: text.slice(end) };
}

function wholeAt(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
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
  if (visibleParts(name).some(({ isMark }) => isMark)) return "This name has signs in it that cannot be seen";
  const used = scripts.filter(({ shape }) => shape.test(name)).map((one) => one.name);
  if (used.length > 1) return `This name mixes alphabets: ${used.join(" and ")}`;
  const [only] = used;
  if (only !== undefined && only !== "Latin") return `This name is written in ${only} letters`;
  return name.normalize("NFKC") === name ? undefined : "This name is not written in plain letters";
}
