// From the names a server gives its tools (or prompts) to segments: each one its own, whatever their order. Pure.
import { fallApart } from "./fall-apart.ts";
import { isCanonicalName, isSegment, markedSegment, segmentFor } from "./segment.ts";

/**
 * Names to their segments. A name that is a segment keeps it; the others get a readable one, with a mark of the full
 * name where it would fall together with another. The result depends on the set of names only. [AX-4.1-1]
 * `isDotted`: the server is an aggregator, whose dotted names stay as they are. [AX-4.3-1]
 */
export function aliasNames(names: Iterable<string>, isDotted = false): Map<string, string> {
  return fallApart(names, {
    keeps: isDotted ? isCanonicalName : isSegment,
    wish: segmentFor,
    marked: markedSegment,
  });
}
