// Whether a message is what a transcript expects: every written field must be there; what is not written is free.
//   "*"          any value            "<absent>"  must not be there
//   "$name"      remembered at first sight, the same value afterwards

export type Memory = Map<string, unknown>;

/** `undefined` where it fits, else the path of the first difference. */
export function mismatch(expected: unknown, actual: unknown, memory: Memory, path = ""): string | undefined {
  if (expected === "*") return actual === undefined ? `${path} is missing` : undefined;
  if (expected === "<absent>") return actual === undefined ? undefined : `${path} should not be there`;
  if (typeof expected === "string" && expected.startsWith("$"))
    return remembered(expected, actual, memory, path);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length)
      return `${path} is ${JSON.stringify(actual)}`;
    return first(expected.map((item, i) => mismatch(item, actual[i], memory, `${path}[${i}]`)));
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof actual !== "object" || actual === null) return `${path} is ${JSON.stringify(actual)}`;
    const fields = actual as Record<string, unknown>;
    return first(
      Object.entries(expected).map(([key, value]) => mismatch(value, fields[key], memory, `${path}.${key}`)),
    );
  }
  return Object.is(expected, actual) ? undefined : `${path} is ${JSON.stringify(actual)}`;
}

/** Puts remembered values into what is to be sent. */
export function filled(value: unknown, memory: Memory): unknown {
  if (typeof value === "string" && memory.has(value)) return memory.get(value);
  if (Array.isArray(value)) return value.map((item) => filled(item, memory));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, memory)]));
}

function remembered(name: string, actual: unknown, memory: Memory, path: string): string | undefined {
  if (actual === undefined) return `${path} is missing`;
  if (!memory.has(name)) {
    memory.set(name, actual);
    return undefined;
  }
  return Object.is(memory.get(name), actual)
    ? undefined
    : `${path} is ${JSON.stringify(actual)}, not ${name}`;
}

function first(differences: (string | undefined)[]): string | undefined {
  return differences.find((difference) => difference !== undefined);
}
