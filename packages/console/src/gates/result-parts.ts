// The parts of what a tool has answered: texts, and what is none. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";

export interface Answer {
  result?: JsonObject | undefined;
  error?: JsonObject | undefined;
}

/** What is there to be read as it is. */
export function textsOf({ result }: Answer): string[] {
  return contentOf(result).flatMap((part) => (isText(part) ? part.text : []));
}

/** Of what is no text, the types. */
export function otherTypesOf({ result }: Answer): string[] {
  const others = contentOf(result).filter((part) => isObject(part) && !isText(part)) as JsonObject[];
  return others.map(({ type }) => (typeof type === "string" ? type : "unknown"));
}

/** What was said to be wrong; nothing where that is no text. */
export function messageOf({ error }: Answer): string | undefined {
  return typeof error?.message === "string" ? error.message : undefined;
}

/** Everything that is not wholly told by its texts and its message. */
export function restOf({ result, error }: Answer): JsonObject | undefined {
  if (result !== undefined && error !== undefined) return { result, error };
  const { content, ...more } = result ?? {};
  const { message, ...about } = error ?? {};
  const odd = Array.isArray(content) ? content.filter((part) => !isTextAlone(part)) : content;
  const hasOdd = Array.isArray(odd) ? odd.length > 0 : odd !== undefined;
  const all = {
    ...(hasOdd && { content: odd }),
    ...more,
    ...(message !== undefined && typeof message !== "string" && { message }),
    ...about,
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

function contentOf(result: JsonObject | undefined): readonly unknown[] {
  return Array.isArray(result?.content) ? result.content : [];
}

function isText(part: unknown): part is { text: string } {
  return isObject(part) && part.type === "text" && typeof part.text === "string";
}

function isTextAlone(part: unknown): boolean {
  return isText(part) && Object.keys(part).length === 2;
}
