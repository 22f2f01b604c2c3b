// What a person reads of a message's text on Discord. Markup that was meant to be text is a fault: the fixture refuses it.

const special = /[`*_~|<@:[]/;

/** `faults` names whatever a client would make something of. */
export function readMarkup(text: string): { shown: string; faults: string[] } {
  const faults: string[] = [];
  let shown = "";
  let isLineStart = true;
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const [taken, seen] = nextPiece(rest, isLineStart);
    if (taken === undefined) faults.push(`markup: ${rest.slice(0, 20)}`);
    shown += seen;
    isLineStart = /\n$/.test(rest.slice(0, taken ?? 1));
    at += taken ?? 1;
  }
  return { shown, faults };
}

/** How much is read and what is seen of it; how much is undefined where it is markup. */
function nextPiece(rest: string, isLineStart: boolean): [number | undefined, string] {
  const code = /^```\n([\s\S]*?)\n```/.exec(rest);
  if (code !== null) return [code[0].length, code[1] ?? ""];
  const literal = /^\\([^0-9A-Za-z\s])/.exec(rest);
  if (literal !== null) return [2, literal[1] ?? ""];
  if (rest.startsWith("**")) return [2, ""];
  const link = /^<(https?:\/\/[^\s<>]+)>/.exec(rest);
  if (link !== null) return [link[0].length, link[1] ?? ""];
  const [first = ""] = rest;
  if (special.test(first) || /^https?:\/\//.test(rest)) return [undefined, first];
  if (isLineStart && /^(>|#|-|\+|\d+\.) ?/.test(rest)) return [undefined, first];
  return [1, first];
}
