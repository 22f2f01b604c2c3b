// Whether a line of a terminal is what a transcript says, whatever differs from run to run.

/** What placeholders stood for when they were first seen. */
export type Memory = Map<string, string>;

/** By the first word of a placeholder: what it may stand for, and whether it is the same everywhere. */
const kinds: Record<string, { form: RegExp; isKept: boolean }> = {
  "<pid": { form: /[0-9]+/y, isKept: true },
  "<port": { form: /[0-9]+/y, isKept: true },
  "<id": { form: /[0-9a-f]{32}/y, isKept: true },
  "<clock": { form: /[0-9]{2}:[0-9]{2}:[0-9]{2}/y, isKept: false },
  "<thumbprint": { form: /[A-Za-z0-9_-]{43}/y, isKept: true },
  "<gate": { form: /[A-Za-z0-9_-]{32}/y, isKept: true },
  "<user": { form: /[a-z0-9._-]+/y, isKept: true },
  "<beginning": { form: /[A-Za-z0-9_-]+/y, isKept: false },
  "<n": { form: /[0-9]+(\.[0-9]+)?/y, isKept: false },
  "<time": { form: /[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/y, isKept: false },
  "<once": { form: /[A-Za-z0-9_-]{32}/y, isKept: false },
  "<stamp": { form: /[0-9]{8}T[0-9]{6}Z/y, isKept: false },
};

export function isShownAs(line: string, expected: string, memory: Memory): boolean {
  const seen: Memory = new Map();
  let at = 0;
  for (const part of expected.split(/(<[a-z][a-z ]{0,40}>)/)) {
    const kind = kinds[part.slice(0, -1).split(" ")[0] ?? ""];
    const known = memory.get(part) ?? seen.get(part) ?? (kind === undefined ? part : undefined);
    if (known !== undefined) {
      if (!line.startsWith(known, at)) return false;
      at += known.length;
    } else if (kind !== undefined) {
      kind.form.lastIndex = at;
      const [value] = kind.form.exec(line) ?? [];
      if (value === undefined) return false;
      // Two names are two processes.
      if (kind.isKept && [...memory.values(), ...seen.values()].includes(value)) return false;
      if (kind.isKept) seen.set(part, value);
      at += value.length;
    }
  }
  if (at !== line.length) return false;
  for (const [name, value] of seen) memory.set(name, value);
  return true;
}

/** A command with what has been seen in it. */
export function filledIn(command: string, memory: Memory): string {
  let text = command;
  for (const [name, value] of memory) text = text.replaceAll(name, value);
  return text;
}
