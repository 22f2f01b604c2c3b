// Trees in trees for tests: a tree as the server of another, without a wire between.
import type { Principal } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { readProofs } from "../dispatch/joint-proofs.ts";
import type { LinkRequest } from "../links/link.ts";
import { readAsker } from "../mcp/asker.ts";
import type { Caller } from "../mcp/exchange.ts";
import { principalName } from "../mcp/plain-caller.ts";
import type { Tree } from "../mcp/tree.ts";
import type { OpenServer } from "../servers/server.ts";

const allLists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
let channels = 0;

/** How a parent reaches a tree below it. What that says unasked comes one after the other, as JSON. */
export function openBelow(tree: Tree, principal: Principal): OpenServer {
  return async ({ capabilities, clientInfo }, taker) => {
    channels += 1;
    const parent: Caller = {
      principal,
      key: `parent ${channels}`,
      era: "modern",
      capabilities,
      info: clientInfo,
      dialect: "canonical",
      profile: undefined,
      logLevel: undefined,
      isParent: true,
    };
    const callerOf = ({ capabilities, info, logLevel, params }: LinkRequest): Caller => ({
      ...parent,
      asker: readAsker(params, principalName(principal)),
      proofs: readProofs(params),
      capabilities,
      info,
      logLevel,
    });
    const deliver = (method: string, params: JsonObject) => {
      const text = JSON.stringify(params);
      queueMicrotask(() => taker.notification(method, JSON.parse(text)));
    };
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    const facts = await tree.describe(parent);
    let subscription = await tree.subscribe(parent, allLists, deliver);
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
      async watch(uris) {
        const before = subscription;
        subscription = await tree.subscribe(
          parent,
          { ...allLists, resourceSubscriptions: [...uris] },
          deliver,
        );
        before.close();
      },
      setLogLevel: () => {},
      ended,
      async close() {
        subscription.close();
        resolve("closed");
      },
    };
  };
}
