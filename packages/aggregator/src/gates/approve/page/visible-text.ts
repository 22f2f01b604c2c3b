// Runs in the page: a text in which nothing hides. What an eye would not see, or what would reorder what it sees, is
// named instead. It stands alone, since its text is what the page gets.

export interface TextPart {
  text: string;
  /** Stands for something that would not be seen. */
  isMark?: true;
}

export function visibleText(text: string): TextPart[] {
  // Controls, bidi and other format signs, halves of characters, private and unassigned ones, spaces that are not the
  // plain one, fillers and selectors that look like nothing.
  const hidden = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\u115f\u1160\u3164\uffa0]|(?! )\p{Z}/u;
  const accent = /\p{M}/u;
  const accentsMax = 2;
  const names: Record<string, string> = { "\n": "↵\n", "\t": "⇥\t", "\r": "␍" };
  const parts: TextPart[] = [];
  let plain = "";
  let accents = 0;
  for (const char of text) {
    accents = accent.test(char) ? accents + 1 : 0;
    // Heaped accents would be drawn over what stands above.
    if (!hidden.test(char) && accents <= accentsMax) {
      plain += char;
      continue;
    }
    if (plain !== "") parts.push({ text: plain });
    plain = "";
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    parts.push({ text: names[char] ?? `U+${code}`, isMark: true });
  }
  if (plain !== "") parts.push({ text: plain });
  return parts;
}
