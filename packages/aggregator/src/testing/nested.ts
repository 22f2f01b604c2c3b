// Trees in trees for tests: a tree as the server of another, without a wire between.
import type { Principal } from "@mcpx/host";
import type { Caller } from "../exchange.ts";
import type { LinkRequest } from "../links/link.ts";
import type { OpenServer } from "../server.ts";
import type { Tree } from "../tree.ts";

/** How a parent reaches a tree below it. */
export function openBelow(tree: Tree, principal: Principal): OpenServer {
  return async ({ capabilities, clientInfo }) => {
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    const callerOf = (request: LinkRequest): Caller => ({
      principal,
      key: "parent",
      era: "modern",
      capabilities: request.capabilities,
      info: request.info,
      dialect: "canonical",
      profile: undefined,
      logLevel: request.logLevel,
      isParent: true,
    });
    const facts = await tree.describe({
      principal,
      key: "parent",
      era: "modern",
      capabilities,
      info: clientInfo,
      dialect: "canonical",
      profile: undefined,
      logLevel: undefined,
    });
    return {
      tellsQuestionsApart: true,
      facts: {
        era: "modern",
        revision: "2026-07-28",
        capabilities: facts.capabilities,
        info: facts.info,
        instructions: facts.instructions,
      },
      request: (request) => tree.handle({ ...request, caller: callerOf(request) }),
      notify: () => {},
      watch: () => {},
      setLogLevel: () => {},
      ended,
      close: async () => resolve("closed"),
    };
  };
}
