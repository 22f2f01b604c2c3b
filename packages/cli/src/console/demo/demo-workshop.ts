// The demo's part of the tree: a server in this process with one tool that only reads and one that is gated.
import { answeringLink, type ServerOptions } from "@mcpx/aggregator";
import { McpxError } from "@mcpx/protocol";
import { answerDemo, workshopTools } from "./demo-tools.ts";

export const workshop: ServerOptions = {
  name: "workshop",
  segment: "workshop",
  origin: { kind: "configured" },
  isTrusted: true,
  isUnpinned: true,
  listMs: 1_000,
  open: async () =>
    answeringLink(
      async (request) => {
        const result = answerDemo(workshopTools, "workshop", request);
        if (result === undefined) throw new McpxError("unknown_method");
        return { resultType: "complete", ...result };
      },
      { name: "demo workshop", version: "1.0.0" },
    ),
};
