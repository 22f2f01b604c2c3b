// Ids, topic names and the globs that tokens use for them. No regular expressions: all checks are linear.

const idChars = new Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@/+-");

/** Whether a value is an id: of an envelope, a participant or a topic. [X0-3-1] */
export function isId(value: unknown, charsMax = 128): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > charsMax) return false;
  for (const char of value) if (!idChars.has(char)) return false;
  return true;
}

/** Ids no participant may have: the gateway speaks under them. [X0-9-3] [X1-4.4-1] */
export function isReservedId(id: string): boolean {
  const lower = id.toLowerCase();
  return lower.startsWith("system:") || lower === "system" || lower === "gateway";
}

/** A key without its case, also where readers fold more than ASCII: the long s is an s, the Kelvin sign a k. */
export function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/** Whether a name matches a glob: `*` is any run inside one part, `**` any run at all. Tools' parts end at dots. */
export function matchesGlob(glob: string, name: string, separator: "/" | "." = "/"): boolean {
  // The classic two-pointer walk with one saved choice per kind of star, so it cannot go exponential.
  let g = 0;
  let n = 0;
  let star = -1;
  let starAt = 0;
  let wide = -1;
  let wideAt = 0;
  while (n < name.length) {
    if (glob[g] === "*" && glob[g + 1] === "*") {
      wide = g;
      wideAt = n;
      star = -1;
      g += 2;
    } else if (glob[g] === "*") {
      star = g;
      starAt = n;
      g += 1;
    } else if (g < glob.length && glob[g] === name[n]) {
      g += 1;
      n += 1;
    } else if (star !== -1 && name[starAt] !== separator) {
      starAt += 1;
      n = starAt;
      g = star + 1;
    } else if (wide !== -1) {
      wideAt += 1;
      n = wideAt;
      star = -1;
      g = wide + 2;
    } else {
      return false;
    }
  }
  while (glob[g] === "*") g += 1;
  return g === glob.length;
}

/** Whether any of the globs matches. */
export function matchesAnyGlob(globs: readonly string[], name: string, separator: "/" | "." = "/"): boolean {
  return globs.some((glob) => matchesGlob(glob, name, separator));
}
