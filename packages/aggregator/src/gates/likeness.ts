// Names that people may take for one another have the same likeness. Pure.

const alike: Readonly<Record<string, string>> = { "0": "o", "1": "l", i: "l", "5": "s", "|": "l" };

/** Of names out of ASCII: case, separators and letters that look alike make no difference. */
export function likeness(name: string): string {
  return name
    .toLowerCase()
    .replace(/[._:@/+-]/g, "")
    .replace(/[015i|]/g, (char) => alike[char] ?? char)
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");
}
