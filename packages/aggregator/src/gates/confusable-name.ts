// Names that people may confuse have the same skeleton, as UTS 39 calls it. Pure.

const alike: Readonly<Record<string, string>> = { "0": "o", "1": "l", i: "l", "5": "s", "|": "l" };

/** Of an ASCII name: case, separators and letters that look alike make no difference. */
export function confusableSkeleton(name: string): string {
  return name
    .toLowerCase()
    .replace(/[._:@/+-]/g, "")
    .replace(/[015i|]/g, (char) => alike[char] ?? char)
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");
}
