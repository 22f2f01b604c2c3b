// The demo's part of the tree: a server in this process with one tool that only reads and one that is gated.
import type { Link, ServerOptions } from "@mcpx/aggregator";
import { McpxError } from "@mcpx/protocol";
import { answerDemo, workshopTools } from "./demo-tools.ts";

export const workshop: ServerOptions = {
  name: "workshop",
  segment: "workshop",
  isTrusted: true,
  isUnpinned: true,
  listMs: 1_000,
  open: async () => workshopLink(),
};

function workshopLink(): Link {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  return {
    tellsQuestionsApart: true,
    facts: {
      era: "modern",
      revision: "2026-07-28",
      capabilities: { tools: {} },
      info: { name: "demo workshop", version: "1.0.0" },
      instructions: undefined,
    },
    async request(request) {
      const result = answerDemo(workshopTools, "workshop", request);
      if (result === undefined) throw new McpxError("unknown_method");
      return { resultType: "complete", ...result };
    },
    notify: () => {},
    watch: () => {},
    setLogLevel: () => {},
    ended,
    close: async () => resolve("closed"),
  };
}
