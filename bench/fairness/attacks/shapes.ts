// Texts of a given size, each a shape that costs something else to read, check or keep.
const kibibyte = 1_024;
export const kib = (count: number): number => count * kibibyte;
export const mib = (count: number): number => count * kibibyte * kibibyte;

function repeated(item: string, bytes: number): string {
  return item.repeat(Math.max(1, Math.floor(bytes / item.length)));
}

/** A list of empty objects: many times its text in memory. */
export const empties = (bytes: number): string => `[${repeated("{},", bytes)}{}]`;

/** A list of numbers whose text must be kept. */
export const numbers = (bytes: number): string => `[${repeated("1.0,", bytes)}1.0]`;

/** One object with as many keys as fit, all different. */
export function keys(bytes: number): string {
  const parts: string[] = [];
  for (let length = 2, i = 0; length < bytes; i += 1) {
    const part = `"k${i}":0`;
    parts.push(part);
    length += part.length + 1;
  }
  return `{${parts.join(",")}}`;
}

export const deep = (bytes: number): string => `${"[".repeat(bytes >> 1)}${"]".repeat(bytes >> 1)}`;

export const text = (bytes: number): string => `"${"x".repeat(Math.max(0, bytes))}"`;

/** A list of tools, each a name and an empty schema. */
export function tools(bytes: number): string {
  const count = Math.max(1, Math.floor(bytes / 60));
  const all = Array.from({ length: count }, (_, i) => ({ name: `t${i}`, inputSchema: { type: "object" } }));
  return JSON.stringify(all);
}

/** The same tools, with schemas full of empty objects. */
export function hollowTools(bytes: number): string {
  const each = Math.min(bytes, 60_000);
  const count = Math.max(1, Math.floor(bytes / each));
  const one = (i: number) => `{"name":"t${i}","inputSchema":{"type":"object","x":${empties(each)}}}`;
  return `[${Array.from({ length: count }, (_, i) => one(i)).join(",")}]`;
}
