// A text in which nothing hides: what an eye would not see, or what would reorder or overwrite what it sees, stands
// apart and is named. The one table for terminals, pages and pins. Pure.

export interface TextPart {
  /** As it came. */
  text: string;
  /** Where it begins, in UTF-16 units. */
  at: number;
  /** What to show in its place: this part would not be seen as it is. */
  mark?: string;
}

/** The parts joined are the text. Each hidden character is a part of its own. */
export function visibleText(text: string): TextPart[] {
  if (text === "") return [];
  // Most of what is said hides nothing, and this costs a tenth of looking for emoji at every place.
  const mayHide = /(?! )[\p{C}\p{Default_Ignorable_Code_Point}\p{Z}\u2800\ufffc\u{16fe4}\u{1d159}]|\p{M}{4}/u;
  if (!mayHide.test(text)) return [{ text, at: 0 }];
  // The emoji that Unicode recommends come first: their joiners, selectors and tags are part of one picture.
  // Hidden are: control, format, private and unassigned characters and halves of one; what is ignored where a font does
  // not know it; signs that are drawn as nothing; every space but the plain one; accents heaped on three others.
  const found =
    /(\p{RGI_Emoji})|[\p{C}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{16fe4}\u{1d159}]|(?! )\p{Z}|(?<=\p{M}{3})\p{M}/gv;
  const names: Record<string, string> = { "\n": "↵", "\t": "⇥", "\r": "␍" };
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(found)) {
    const [hidden, emoji] = match;
    if (emoji !== undefined) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), at: from });
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    parts.push({ text: hidden, at: match.index, mark: names[hidden] ?? `U+${code}` });
    from = match.index + hidden.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), at: from });
  return parts;
}
