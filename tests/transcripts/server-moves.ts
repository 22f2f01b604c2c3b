// What is asked over HTTP, and what is done to the server itself.
import { join } from "node:path";
import { createSqliteTopicLog } from "@mcpx/gateway";
import { expectMessage, filledText, type Move, show } from "./stage.ts";

/** Who has no token asks without one. */
export const callRest: Move = async (stage, [, id = "", method = "", path = "", status], { json }) => {
  const answer = await stage.server.call(method, filledText(stage, path), stage.tokens.get(id));
  if (answer.status !== Number(status)) throw new Error(`answered ${answer.status} ${show(answer.body)}`);
  if (json !== undefined) expectMessage(stage, JSON.parse(json), answer.body);
};

/** Everybody is told and closed, which is taken as said. */
export const restart: Move = async (stage) => {
  await stage.server.restart();
  for (const client of stage.clients.values()) {
    const draining = { kind: "system", payload: { event: "draining", reconnect_after_ms: "*" } };
    expectMessage(stage, draining, await client.next());
    const { code } = await client.closing();
    if (code !== 4503) throw new Error(`${client.id} was closed with ${code}`);
  }
  stage.clients.clear();
};

/** What the gateway does by itself once a minute: all but the newest go. */
export const trim: Move = async ({ server, topic }, [, count]) => {
  const log = await createSqliteTopicLog({ path: join(server.dataDir, "topics.db") });
  await log.trim(topic, { count: Number(count) }, Date.now());
  await log.close();
};
