// A server that is a function of this process: it lists and answers tools, and that is all there is to it.
import type { JsonObject } from "@mcpx/protocol";
import { modernRevision } from "../mcp/era.ts";
import type { Link, LinkRequest } from "./link.ts";

export function answeringLink(
  answer: (request: LinkRequest) => Promise<JsonObject>,
  info?: { name: string; version: string },
): Link {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  return {
    tellsQuestionsApart: true,
    facts: {
      era: "modern",
      revision: modernRevision,
      capabilities: { tools: {} },
      info,
      instructions: undefined,
    },
    request: answer,
    notify: () => {},
    watch: () => {},
    setLogLevel: () => {},
    ended,
    close: async () => resolve("closed"),
  };
}
