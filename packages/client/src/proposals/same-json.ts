// Whether two JSON values mean the same: the order of keys does not count.
import { isObject } from "@mcpx/protocol";

export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => isSameJson(item, b[i]));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
    );
  }
  return Object.is(a, b);
}
