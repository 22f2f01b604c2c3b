// What the tools of a server were, forgotten because somebody took the server out.
import { withStore } from "../files/local-store.ts";
import { type Home, hasState } from "../files/state-place.ts";

/** Of a data directory that no gateway has used yet, nothing. Says how many tools it were. */
export async function forgetPins(home: Home, server: string, actor: string): Promise<number> {
  if (!hasState(home.dataDir)) return 0;
  return withStore(home, {}, async ({ audit, tree }) => {
    const { pins } = await tree();
    const tools = await pins.forget(server);
    if (tools > 0)
      await audit.recordNow({ action: "tool.forget", actor, subject: server, detail: { tools } });
    return tools;
  });
}
