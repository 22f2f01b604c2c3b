// The id a segment's server has in a tree: the same for the same segment of the same data directory. Pure.
import { createHash } from "node:crypto";

export function segmentUuid(dataDir: string, segment: string): string {
  const hex = createHash("sha256").update(`${dataDir}\n${segment}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
