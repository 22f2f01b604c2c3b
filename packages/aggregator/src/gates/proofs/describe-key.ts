// What others are told of a key that decides about gates.
import type { JsonObject } from "@mcpx/protocol";
import type { AnchorKey } from "./anchors.ts";

export function describeKey(key: AnchorKey): JsonObject {
  const { name, kind, thumbprint } = key;
  const kept = kind === "passkey" ? undefined : key.kept;
  return { name, kind, thumbprint, ...(kept && { kept }) };
}
