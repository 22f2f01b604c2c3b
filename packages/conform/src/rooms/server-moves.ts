// What is asked over HTTP, and what is done to the server itself.
import { setTimeout as sleep } from "node:timers/promises";
import * as target from "../target.ts";
import { expectMessage, filledText, type Move, type Stage, show } from "./stage.ts";

const emptyMsMax = 5_000;

/** Who has no token asks without one. */
export const callRest: Move = async (stage, [, id = "", method = "", path = "", status], { json }) => {
  const answer = await target.callRest(stage.target, method, filledText(stage, path), stage.tokens.get(id));
  if (answer.status !== Number(status)) throw new Error(`answered ${answer.status} ${show(answer.body)}`);
  if (json !== undefined) expectMessage(stage, JSON.parse(json), answer.body);
};

/**
 * Every member is told and closed, which is taken as said. A gateway that the player cannot restart has all of them
 * leave instead: what is kept over a restart is kept over that too.
 */
export const restart: Move = async (stage) => {
  if (stage.target.restart === undefined) {
    await Promise.all([...stage.clients.values()].map((client) => client.leave()));
    await untilEmpty(stage);
    stage.clients.clear();
    return;
  }
  await stage.target.restart();
  for (const client of stage.clients.values()) {
    const draining = { kind: "system", payload: { event: "draining", reconnect_after_ms: "*" } };
    expectMessage(stage, draining, await client.next());
    const { code } = await client.closing();
    if (code !== 4503) throw new Error(`${client.id} was closed with ${code}`);
  }
  stage.clients.clear();
};

/** Behind a proxy a client's goodbye is answered before the gateway has heard it. Who is still there is seen later. */
async function untilEmpty(stage: Stage): Promise<void> {
  const [id = ""] = stage.clients.keys();
  const path = `/v0/topics/${encodeURIComponent(stage.topic)}/participants`;
  const giveUpAt = performance.now() + emptyMsMax;
  while (performance.now() < giveUpAt) {
    const { body } = await target.callRest(stage.target, "GET", path, stage.tokens.get(id));
    const { participants } = body as { participants?: unknown[] };
    if (participants === undefined || participants.length === 0) return;
    await sleep(20);
  }
}

/** What the gateway does by itself once a minute: all but the newest go. */
export const trim: Move = async (stage, [, count]) => {
  if (stage.target.trim === undefined) throw new Error("the log of this gateway cannot be trimmed from here");
  await stage.target.trim(stage.topic, Number(count));
};
