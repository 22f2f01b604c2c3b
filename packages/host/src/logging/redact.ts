// Takes secrets out of what is about to be logged, by the names under which they travel, at any depth. Pure.

import { isSecretName } from "@mcpx/protocol";

const secretKeys = new Set([
  "authorization",
  "token",
  "access_token",
  "ticket",
  "proof",
  "capability",
  "cookie",
  "set-cookie",
  "private_jwk",
]);

const depthMax = 8;

/** The value without its secrets; the original is left as it is. */
export function redact(value: unknown): unknown {
  return walk(value, "", 0);
}

function walk(value: unknown, name: string, depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error) return value;
  if (depth === depthMax) return "[deep]";
  if ("toJSON" in value && typeof value.toJSON === "function") return walk(value.toJSON(), name, depth + 1);
  if (Array.isArray(value)) return value.map((item) => walk(item, name, depth + 1));
  const isJwk = name === "jwk" || "kty" in value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const isSecret =
        secretKeys.has(key.toLowerCase()) ||
        (typeof field === "string" && isSecretName(key)) ||
        (isJwk && (key === "d" || key === "k"));
      return [key, isSecret ? "[secret]" : walk(field, key, depth + 1)];
    }),
  );
}
