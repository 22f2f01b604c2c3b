// Runs in the page: JSON as it is written, so that 1.0 and 2^53+1 are shown as they are sent. It stands alone, since
// its text is what the page gets.

export type ExactValue =
  | { kind: "object"; entries: [string, ExactValue][] }
  | { kind: "list"; items: ExactValue[] }
  | { kind: "text"; text: string }
  /** Numbers, true, false and null, letter for letter. */
  | { kind: "word"; word: string };

/** Of JSON that is known to be valid. */
export function readExact(json: string): ExactValue {
  let at = 0;
  const skip = () => {
    while (" \t\n\r".includes(json[at] ?? "x")) at += 1;
  };
  /** Whether this sign comes next; it is passed then. */
  const takes = (sign: string) => {
    skip();
    if (json[at] !== sign) return false;
    at += 1;
    return true;
  };
  const readText = (): string => {
    skip();
    const from = at;
    at += 1;
    while (json[at] !== '"' && at < json.length) at += json[at] === "\\" ? 2 : 1;
    at += 1;
    return JSON.parse(json.slice(from, at));
  };
  const readValue = (): ExactValue => {
    if (takes("{")) {
      const entries: [string, ExactValue][] = [];
      while (!takes("}")) {
        const key = readText();
        takes(":");
        entries.push([key, readValue()]);
        takes(",");
      }
      return { kind: "object", entries };
    }
    if (takes("[")) {
      const items: ExactValue[] = [];
      while (!takes("]")) {
        items.push(readValue());
        takes(",");
      }
      return { kind: "list", items };
    }
    skip();
    if (json[at] === '"') return { kind: "text", text: readText() };
    const from = at;
    while (at < json.length && !",]} \t\n\r".includes(json[at] ?? ",")) at += 1;
    if (at === from) throw new Error("this is not JSON");
    return { kind: "word", word: json.slice(from, at) };
  };
  return readValue();
}
