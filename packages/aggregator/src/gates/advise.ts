// How a caller is told to wait: the tool and the arguments, in the names this caller has for them. [B-CLIENT-2]
import { confirmationKey, confirmationOf, isObject, type JsonObject, type WaitAdvice } from "@mcpx/protocol";
import { advise, toldName } from "../catalogue/advice.ts";
import type { Caller } from "../mcp/exchange.ts";
import { nameIn } from "../names/dialects.ts";
import { ownSegment } from "../names/own-segment.ts";
import type { TreeState } from "../servers/tree-state.ts";

export const waitName = `${ownSegment}.wait`;

/** `undefined` where this caller may not use the tool: the same call made again waits, too. */
export function waitAdvice(state: TreeState, caller: Caller, id: string): WaitAdvice | undefined {
  const tool = toldName(state, caller, { segment: ownSegment }, "wait");
  return tool === undefined ? undefined : advise(caller, { tool, arguments: { confirmation_id: id } });
}

/**
 * A gate of a tree below has been told in that tree's names: the caller is told in its own. Who sees canonical names may
 * be a tree itself, and passes on what was said. `called` is the full name of what was called here.
 */
export function inOwnWords(state: TreeState, caller: Caller, called: string, result: JsonObject): JsonObject {
  const { confirmation_id: id, tool, wait, arguments: args } = confirmationOf(result) ?? {};
  if (caller.dialect === "canonical" || typeof id !== "string" || typeof tool !== "string") return result;
  if (!isAdvice(wait)) return result;
  // Where the tree below has mcpax.wait, and we have none, waiting is a call of its.
  const shownTool = nameIn(caller.dialect, called === waitName ? tool : called);
  const advice = waitAdvice(state, caller, id) ?? advise(caller, { tool: shownTool, arguments: args ?? {} });
  const reword = (text: unknown) =>
    typeof text === "string" ? replaced(replaced(text, wait.tool, advice.tool), tool, shownTool) : text;
  const renamed = (told: unknown) =>
    isObject(told) ? { ...told, message: reword(told.message), wait: advice } : told;
  const { content, structuredContent, _meta } = result;
  return {
    ...result,
    ...(Array.isArray(content) && {
      content: content.map((part: unknown) =>
        isObject(part) && part.type === "text" ? { ...part, text: reword(part.text) } : part,
      ),
    }),
    ...(isObject(structuredContent) && { structuredContent: renamed(structuredContent) }),
    ...(isObject(_meta) && {
      _meta: {
        ..._meta,
        ...(confirmationKey in _meta && { [confirmationKey]: renamed(_meta[confirmationKey]) }),
      },
    }),
  };
}

function isAdvice(value: unknown): value is WaitAdvice {
  return isObject(value) && typeof value.tool === "string" && isObject(value.arguments);
}

/** Whole names only. */
function replaced(text: string, name: string, by: string): string {
  const parts = text.split(name);
  if (name === "" || parts.length === 1) return text;
  return parts.reduce((before, after) =>
    /[\w.-]$/.test(before) || /^[\w-]/.test(after) ? before + name + after : before + by + after,
  );
}
