// Which callers are notified of changes of servers.

import { isDefinitionSmuggling } from "@mcpx/protocol";
import { forgetListed } from "../catalogue/directory.ts";
import type { ServerEvents } from "../servers/server-events.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { announceChange } from "./announce.ts";
import { tuneLogs } from "./log-levels.ts";
import { serverTaker } from "./server-taker.ts";
import { inheritWatches, takeWatches, watchAgain } from "./subscriptions.ts";
import { tellLost, tellLostTo } from "./tell.ts";

export function createServerNews(state: () => TreeState): ServerEvents {
  return {
    begins: (server, conversation) => serverTaker(state(), server, conversation),
    opened(server, conversation) {
      const { instructions } = conversation.link?.facts ?? {};
      if (isDefinitionSmuggling({ instructions }))
        state().log.warn({ server: server.name }, "the instructions of a server hide text, and are left out");
      tuneLogs(state(), server, conversation);
      takeWatches(state(), server, conversation);
    },
    ended(server, conversation) {
      if (conversation.owner !== undefined) tellLostTo(state(), server, conversation.owner);
      void watchAgain(state(), conversation);
    },
    lost: (server) => tellLost(state(), server),
    listsChanged(kinds, person) {
      for (const kind of kinds) announceChange(state(), kind, person);
    },
    retired(server, heir) {
      inheritWatches(state(), server, heir);
      forgetListed(state(), server);
    },
  };
}
