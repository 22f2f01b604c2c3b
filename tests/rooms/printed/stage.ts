// A room for one printed message: everybody it names is there, each with one socket, and what comes before it was sent.
import { enter } from "../../support/enter.ts";
import type { TestClient } from "../../support/test-client.ts";
import type { TestServer } from "../../support/test-server.ts";
import { allSent, type Printed, senderOf } from "./messages.ts";

export interface Stage {
  sender: TestClient;
  /** Somebody the message does not concern, who sees all of it. */
  observer: TestClient;
  topic: string;
}

export async function setStage(server: TestServer, printed: Printed, topic: string): Promise<Stage> {
  const earlier = (printed.after ?? []).map((title) => {
    const found = allSent.find((message) => message.title === title);
    if (found === undefined) throw new Error(`nothing is printed as ${title}`);
    return found;
  });
  for (const before of earlier) {
    const sender = await join(server, before, topic);
    sender.ws.send(before.text);
    await sender.event("ack");
    await sender.leave();
  }
  const protocol = JSON.parse(printed.text).protocol;
  const observer = await enter(server, "observer", { topic, query: { protocol } });
  const sender = await join(server, printed, topic);
  await observer.event("join");
  return { sender, observer, topic };
}

function join(server: TestServer, printed: Printed, topic: string): Promise<TestClient> {
  return enter(server, senderOf(printed), { topic, level: printed.level ?? "full" });
}
