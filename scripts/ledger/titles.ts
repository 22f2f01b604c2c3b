// The ledger ids in the titles of a test file. Only titles count: an id in a comment or an assertion shows nothing.
// Pure: the callers read the files.

export type TestFile = { path: string; text: string };

const idsInTitle = /\[((?:X\d|AC|PL|AX|B)-[^\]]*)\]/g;
const comment = /\/\/.*|\/\*[\s\S]*?\*\//y;
const quoted = /(["'])(?:\\[\s\S]|(?!\1)[^\\\n])*\1/y;
// A slash opens a regular expression only where a value may stand; elsewhere it divides.
const regexp = /(?<=(?:^|[(,=:[!&|?{;>]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/my;

/** The ids that the titles of `file` name, each once. */
export function namedIds(file: TestFile): string[] {
  const ids = titlesOf(file).flatMap((title) => [...title.matchAll(idsInTitle)].map(([, id = ""]) => id));
  return [...new Set(ids)];
}

function titlesOf({ path, text }: TestFile): string[] {
  if (path.endsWith(".txt")) return [text.split("\n", 1)[0] ?? ""];
  const { code, strings } = maskStrings(text);
  const titles = titledCalls(code).map(({ title }) => strings[title] ?? "");
  // A case suite hands its titles around in a shape of its own: there, a string opening with an id is one.
  return path.endsWith("-cases.ts") ? [...titles, ...strings.filter((s) => /^.\[[A-Z]/.test(s))] : titles;
}

/** A title that names requirements, and what its test does, without strings and comments. */
export type TitledCall = { title: string; body: string };

/** The calls of `test` and its kind whose titles name requirements. */
export function titledCallsOf({ text }: TestFile): TitledCall[] {
  const { code, strings } = maskStrings(text);
  return titledCalls(code)
    .map(({ title, body }) => ({ title: strings[title] ?? "", body }))
    .filter(({ title }) => title.match(idsInTitle) !== null);
}

/** Titles as indexes of strings. A skipped or planned test shows nothing, so its title is none. */
function titledCalls(code: string): { title: number; body: string }[] {
  return [...code.matchAll(/(?<![\w$.])(?:test|it|describe)\b/g)].flatMap(({ 0: name, index }) => {
    const call = code.slice(index + name.length);
    const step = /\s*(?:\.(\w+)|\(\s*§(\d+)§|(\()|§\d+§|<[\s\S]*?>(?=\())/y;
    for (let found = step.exec(call); found; found = step.exec(call)) {
      if (found[1] === "skip" || found[1] === "todo") return [];
      if (found[2]) {
        const body = call.slice(step.lastIndex, closing(call, step.lastIndex, "(", ")"));
        return [{ title: Number(found[2]), body }];
      }
      if (found[3]) step.lastIndex = closing(call, step.lastIndex, "(", ")");
    }
    return [];
  });
}

/** The source without comments and regular expressions, each string replaced by §its index§. */
function maskStrings(source: string): { code: string; strings: string[] } {
  const strings: string[] = [];
  let code = "";
  for (let at = 0, end = 0; at < source.length; at = end) {
    end = tokenEnd(source, at);
    const token = source.slice(at, end);
    if (/^["'`][\s\S]/.test(token)) code += `§${strings.push(token) - 1}§`;
    else code += token.length > 1 ? " " : token;
  }
  return { code, strings };
}

function tokenEnd(source: string, at: number): number {
  if (source[at] === "`") return templateEnd(source, at + 1);
  if (!`"'/`.includes(source[at] ?? "")) return at + 1;
  for (const token of [comment, quoted, regexp]) {
    token.lastIndex = at;
    if (token.test(source)) return token.lastIndex;
  }
  return at + 1;
}

function templateEnd(source: string, start: number): number {
  let at = start;
  while (at < source.length && source[at] !== "`") {
    if (source.startsWith("${", at)) at = closing(source, at + 2, "{", "}");
    else at += source[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}

/** The place after the bracket that closes the one before `start`, strings and comments passed over. */
function closing(source: string, start: number, open: string, close: string): number {
  let at = start;
  for (let depth = 1; depth > 0 && at < source.length; at = tokenEnd(source, at)) {
    if (source[at] === open) depth += 1;
    if (source[at] === close) depth -= 1;
  }
  return at;
}
