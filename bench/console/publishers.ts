// Those who speak in the room, in a process of their own: told `{ perSecond, seconds }` they say so many things, and
// tell when the last was acknowledged.
import { setTimeout as sleep } from "node:timers/promises";
import { joinRoom } from "@mcpx/client";

const [url = "", topic = "", ...tokens] = process.argv.slice(2);
const rooms = await Promise.all(
  tokens.map((token) => joinRoom({ url, topic, token, history: 0, outboxMax: 1e6 })),
);
// Something waits for a decision the whole time.
rooms[0]?.propose({ to: [], method: "tools/call", params: { name: "heat", arguments: { celsius: 200 } } });
process.on("disconnect", () => process.exit(0));
process.on("message", async ({ perSecond, seconds }: { perSecond: number; seconds: number }) => {
  const total = perSecond * seconds;
  const said: Promise<unknown>[] = [];
  const began = performance.now();
  while (said.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - began) * perSecond) / 1_000));
    while (said.length < due) said.push(speak(said.length));
    await sleep(1);
  }
  await Promise.all(said);
  process.send?.({ said: said.length, ms: performance.now() - began });
});
process.send?.("ready");

/** Mostly plain words, some letters that are not plain, every tenth no chat: a page does not show it unless asked. */
function speak(i: number): Promise<unknown> {
  const room = rooms[i % rooms.length];
  if (room === undefined) throw new Error("nobody is there to speak");
  const words = `line ${i} ${"and so on ".repeat(i % 20)}`;
  if (i % 10 === 9) {
    const params = { level: "info", data: { celsius: i, words } };
    return room.publish({
      kind: "mcp",
      payload: { jsonrpc: "2.0", method: "notifications/message", params },
    });
  }
  return room.say(i % 10 === 4 ? `${words} ä→é ${i}` : words);
}
