// Segments, the words between the dots of a name, and what is made of names that are none. Pure. [AX-4.1-1]

const segmentCharsMax = 63;
/** Of a whole canonical name. */
export const nameCharsMax = 255;
/** Of the mark at the end of a name that would fall together with others. */
export const markChars = 6;

const lower = /^[a-z0-9_-]{1,63}$/;

export function isSegment(value: string): boolean {
  return lower.test(value);
}

/** Dotted segments, as aggregators list their tools. */
export function isCanonicalName(value: string): boolean {
  return value.length <= nameCharsMax && value.split(".").every(isSegment);
}

/** A segment that stands for any name: the name itself where it is one, else the nearest readable thing. */
export function segmentFor(name: string): string {
  if (isSegment(name)) return name;
  const words = name
    // getWeather, HTTPServer → get_weather, http_server
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "_")
    .slice(0, segmentCharsMax);
  return words === "" || /^_*$/.test(words) ? withMark("tool", name) : words;
}

/** The same with a mark of the full name, for those that would fall together. */
export function markedSegment(name: string): string {
  return withMark(segmentFor(name), name);
}

/** Whether it could be one of those. */
export function isMarked(segment: string): boolean {
  return /-[a-z0-9]{6}$/.test(segment);
}

/** FNV-1a over UTF-16 units: names are not secrets, they only have to fall apart. */
export function mark(name: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash.toString(36).padStart(7, "0").slice(-markChars);
}

function withMark(head: string, name: string): string {
  const tail = `-${mark(name)}`;
  return `${head.slice(0, segmentCharsMax - tail.length)}${tail}`;
}
