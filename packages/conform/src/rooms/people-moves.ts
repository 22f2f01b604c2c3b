// Who there is, and how they come and go.
import type { Claims } from "../target.ts";
import { HttpRefusal, RoomMember } from "./room-member.ts";
import { clientOf, expectMessage, filledText, type Move, type Stage, show } from "./stage.ts";

export const setTopic: Move = async (stage, [, topic = ""]) => {
  stage.topic = topic;
};

/** `unnamed` has no level in its token. */
export const giveToken: Move = async (stage, [, id = "", level = "", kind = "", name]) => {
  stage.tokens.set(id, await mint(stage, id, level, kind, name));
};

export const giveAdminToken: Move = async ({ target, tokens }, [, id = ""]) => {
  tokens.set(id, await target.mint({ sub: id, topics: ["**"], admin: true }));
};

/** A token that does not say whose it is. */
export const giveNamelessToken: Move = async ({ target, topic, tokens }, [, id = ""]) => {
  tokens.set(id, await target.mint({ topics: [topic] }));
};

export const shareToken: Move = async ({ tokens }, [, id = "", owner = ""]) => {
  tokens.set(id, tokens.get(owner) ?? "");
};

/** Remembered, to be sent in an envelope. */
export const rememberToken: Move = async (stage, [, place = "", id = "", level = "", kind = ""]) => {
  stage.memory.set(place, await mint(stage, id, level, kind));
};

function mint(
  { target, topic }: Stage,
  id: string,
  level: string,
  kind: string,
  name?: string,
): Promise<string> {
  const claims: Claims = { sub: id, topics: [topic], kind, ...(name ? { name } : {}) };
  return target.mint(level === "unnamed" ? claims : { ...claims, level });
}

export const connect: Move = async (stage, [, id = "", query = "", subprotocol]) => {
  const parameters = Object.fromEntries(new URLSearchParams(filledText(stage, query)));
  const client = await RoomMember.connect(
    stage.target.url,
    stage.tokens.get(id),
    { topic: stage.topic, ...parameters },
    subprotocol === undefined ? {} : { headers: { "sec-websocket-protocol": subprotocol } },
  );
  stage.clients.set(id, client);
};

/** Connects; the welcome and the others' presence are taken as said. */
export const joinQuietly: Move = async (stage, match, step) => {
  const id = match[1] ?? "";
  const others = [...stage.clients].filter(([other]) => other !== id);
  await connect(stage, match, step);
  const welcome = { kind: "system", payload: { event: "welcome" } };
  expectMessage(stage, welcome, await clientOf(stage, id).next());
  const joined = { kind: "presence", payload: { event: "join", participant: { id } } };
  for (const [, other] of others) expectMessage(stage, joined, await other.next());
};

export const cannotConnect: Move = async (stage, [, id = "", query = "", offered, status, reason], step) => {
  const refusal = await connect(stage, ["", id, query, ...(offered ? [offered] : [])], step).then(
    () => new Error("connected"),
    (error: Error) => error,
  );
  if (refusal.message !== `${status} ${reason}`) throw new Error(`was ${refusal.message}`);
  if (step.json !== undefined && refusal instanceof HttpRefusal)
    expectMessage(stage, JSON.parse(step.json), refusal.error);
};

export const leave: Move = async (stage, [, id = ""]) => {
  await clientOf(stage, id).leave();
  stage.clients.delete(id);
};

export const closedWith: Move = async (stage, [, id = "", code]) => {
  const client = clientOf(stage, id);
  const closed = await client.closing();
  if (closed.code !== Number(code)) throw new Error(`was closed with ${closed.code} ${closed.reason}`);
  if (client.inbox.length > 0) throw new Error(`had received ${show(client.inbox)} before`);
  stage.clients.delete(id);
};
