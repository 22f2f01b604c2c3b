// Texts between two marks, replaced in one pass: a regular expression would look for the end again at each beginning.

/** `replace` is given what stands between the marks; where there is no end, all stays as it is. */
export function replaceBetween(
  text: string,
  [open, close]: readonly [string, string],
  replace: (inside: string) => string,
): string {
  let replaced = "";
  let at = 0;
  for (;;) {
    const start = text.indexOf(open, at);
    const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
    if (end === -1) return replaced + text.slice(at);
    replaced += text.slice(at, start) + replace(text.slice(start + open.length, end));
    at = end + close.length;
  }
}
