// What is asked of somebody, and its outcome, as lines for people. Everything in it may come from strangers. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { cut, visible } from "../framework/visible.ts";

const shortChars = 160;

/** `heat`, or the method where it is no tool call. */
export function actionText(method: string, params: JsonObject): string {
  const isTool = method === "tools/call" && typeof params.name === "string";
  return visible(isTool ? String(params.name) : method);
}

/** The arguments of a tool, or all parameters where there is more to them than a name and arguments. */
export function argumentsOf(method: string, params: JsonObject): unknown {
  const { name: _, arguments: given = {}, ...more } = params;
  return method === "tools/call" && Object.keys(more).length === 0 ? given : params;
}

/** JSON on one line where it is short, else one line for each value. */
export function jsonLines(value: unknown): string[] {
  const text = JSON.stringify(value) ?? "";
  if (text.length <= shortChars) return [visible(text)];
  return JSON.stringify(value, null, 2).split("\n").map(visible);
}

/** The result of a tool, line by line. */
export function resultLines(result: JsonObject): string[] {
  const { content, structuredContent } = result;
  const items = Array.isArray(content) ? content.filter(isObject) : [];
  if (items.length === 0) return jsonLines(structuredContent ?? result);
  return items.flatMap(contentLines);
}

/** So many lines at most, and how many more there are. */
export function shortened(lines: readonly string[], linesMax: number, charsMax: number): string[] {
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines) {
    if (shown.length >= linesMax || chars >= charsMax) {
      return [...shown, `… and ${lines.length - shown.length} more lines`];
    }
    shown.push(cut(line, charsMax - chars));
    chars += line.length;
  }
  return shown;
}

function contentLines(item: JsonObject): string[] {
  const { type, text, mimeType, data, uri, resource } = item;
  if (type === "text" && typeof text === "string") return text.split(/\r\n|\n/).map(visible);
  const about = isObject(resource) ? resource.uri : uri;
  const size = typeof data === "string" ? `${Math.floor((data.length * 3) / 4)} bytes` : undefined;
  const parts = [type, mimeType, about, size].filter((part) => part !== undefined);
  return [`[${visible(parts.map(String).join(", "))}]`];
}
