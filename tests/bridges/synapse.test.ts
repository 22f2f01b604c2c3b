// Matrix against Synapse, where it is installed or MCPX_SYNAPSE_ROOT says where. For `npm run soak`.
import { randomUUID } from "node:crypto";
import { createMatrixPlatform } from "@mcpx/bridges";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { startProxy } from "./support/cuttable-proxy.ts";
import { emoji, shownIn } from "./support/matrix-shown.ts";
import { type PlatformBench, platformCases } from "./support/platform-cases.ts";
import {
  isSynapseThere,
  type Synapse,
  serverName,
  startSynapse,
  synapseBot,
  synapseTokens,
} from "./support/synapse.ts";

let synapse: Synapse;
let benches = 0;

async function createBench(): Promise<PlatformBench> {
  benches += 1;
  const mine = `bench${benches}`;
  // Nobody of an earlier test is anybody here.
  const userOf = (name: string) => `@${name}-${mine}:${serverName}`;
  const path = (room: string, rest: string) => `/rooms/${encodeURIComponent(room)}/${rest}`;
  const register = (name: string) =>
    synapse.call("POST", "/register", userOf(name), {
      ...{ type: "m.login.application_service", username: `${name}-${mine}`, inhibit_login: true },
    });
  await register("owner");
  const made = await synapse.call("POST", "/createRoom", userOf("owner"), { preset: "public_chat" });
  const channel = made.room_id;
  const proxy = await startProxy(synapse.port);
  onTestFinished(() => proxy.close());
  const seen = { events: synapse.events, channel };
  const send = async (user: string, type: string, content: object, room = channel): Promise<string> => {
    const sent = await synapse.call("PUT", path(room, `send/${type}/${randomUUID()}`), user, content);
    await expect.poll(() => synapse.events.some(({ event_id: id }) => id === sent.event_id)).toBe(true);
    return sent.event_id;
  };
  const isIn = (room: string, user: string) =>
    synapse.events.findLast(
      (one) => one.room_id === room && one.type === "m.room.member" && one.state_key === user,
    )?.content.membership === "join";
  const directRoom = async (user: string): Promise<string> => {
    const rooms = new Set(synapse.events.map(({ room_id: room }) => room));
    const found = [...rooms].find((room) => room !== channel && isIn(room, user) && isIn(room, synapseBot));
    if (found !== undefined) return found;
    const wish = { preset: "trusted_private_chat", is_direct: true, invite: [synapseBot] };
    const { room_id: room } = await synapse.call("POST", "/createRoom", user, wish);
    await expect.poll(() => isIn(room, synapseBot)).toBe(true);
    return room;
  };
  const messageIn = (words: string) =>
    synapse.events.find(
      ({ type, room_id: room, content }) =>
        type === "m.room.message" && room === channel && String(content.body).includes(words),
    )?.event_id;
  const cardIn = (card: string) =>
    synapse.events.find(({ sender, content }) => sender === synapseBot && content["mcpx.card"] === card)
      ?.event_id;
  const words = (body: string) => ({ msgtype: "m.text", body });
  const known = new Set<string>();
  const reactions = new Map<string, string>();
  return {
    kind: "matrix",
    channel,
    open: () =>
      createMatrixPlatform({
        homeserver: `http://127.0.0.1:${proxy.port}`,
        asToken: () => synapseTokens.as,
        hsToken: () => synapseTokens.hs,
        listen: { host: "127.0.0.1", port: synapse.servicePort },
        channels: [channel],
      }),
    async person(name, shownAs = name) {
      const user = userOf(name);
      if (!known.has(user)) {
        known.add(user);
        await register(name);
        await synapse.call("PUT", `/profile/${encodeURIComponent(user)}/displayname`, user, {
          displayname: shownAs,
        });
        await synapse.call("POST", path(channel, "join"), user, {});
      }
      return {
        key: user,
        say: async (text) => void (await send(user, "m.room.message", words(text))),
        async reply(text, to) {
          const parent = { event_id: messageIn(to) ?? "$never-there" };
          const relation = { "m.relates_to": { "m.in_reply_to": parent } };
          await send(user, "m.room.message", { ...words(text), ...relation });
        },
        async edit(from, to) {
          const relation = { rel_type: "m.replace", event_id: messageIn(from) ?? "" };
          const edit = { "m.new_content": words(to), "m.relates_to": relation };
          await send(user, "m.room.message", { ...words(`* ${to}`), ...edit });
        },
        tell: async (text) => void (await send(user, "m.room.message", words(text), await directRoom(user))),
        async press(verb, card) {
          const own = { ...words("a card of my own"), "mcpx.card": card };
          const id = cardIn(card) ?? (await send(user, "m.room.message", own));
          const relation = { rel_type: "m.annotation", event_id: id, key: emoji[verb] };
          const key = `${user} ${id} ${verb}`;
          const before = reactions.get(key);
          // Nobody reacts twice in the same way: whoever wants to takes the first one away.
          if (before !== undefined)
            await synapse.call("PUT", path(channel, `redact/${before}/${randomUUID()}`), user, {});
          reactions.set(key, await send(user, "m.reaction", { "m.relates_to": relation }));
        },
        heard: () =>
          synapse.events
            .filter(({ type, sender, room_id: room }) => {
              return (
                type === "m.room.message" && sender === synapseBot && room !== channel && isIn(room, user)
              );
            })
            .map(({ content }) => String(content.body)),
      };
    },
    isForgeryIgnored: true,
    async deliver(name, number, body) {
      const event = {
        ...{ type: "m.room.message", event_id: `$d${number}-${mine}`, room_id: channel },
        ...{ sender: userOf(name), content: words(body) },
      };
      const address = `http://127.0.0.1:${synapse.servicePort}/_matrix/app/v1/transactions/${randomUUID()}`;
      const headers = { authorization: `Bearer ${synapseTokens.hs}`, "content-type": "application/json" };
      const taken = await fetch(address, {
        method: "PUT",
        headers,
        body: JSON.stringify({ events: [event] }),
      });
      expect(taken.status).toBe(200);
    },
    shown: () => shownIn(seen, synapseBot),
    async cut(isDown) {
      proxy.cut(isDown);
      synapse.service.cut(isDown);
    },
  };
}

describe.runIf(isSynapseThere)("Synapse", () => {
  beforeAll(async () => {
    synapse = await startSynapse();
  }, 120_000);
  afterAll(() => synapse.stop());

  // Its limits are its configuration, and cannot be switched on and off.
  platformCases("[X0-2.1-8]", createBench, ["limits"]);
});
