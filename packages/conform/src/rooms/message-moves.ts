// What is sent, and what arrives.
import { filled } from "./matches.ts";
import type { RoomMember, Seen } from "./room-member.ts";
import { clientOf, expectMessage, type Move, type Stage, show } from "./stage.ts";

export const send: Move = async (stage, [, id], { json }) => {
  sendText(stage, clientOf(stage, id), JSON.stringify(filled(JSON.parse(json ?? ""), stage.memory)));
};

/** Byte for byte as written, be it JSON or not. */
export const sendExactly: Move = async (stage, [, id], { json }) => {
  sendText(stage, clientOf(stage, id), (json ?? "").trim());
};

export const sendBytes: Move = async (stage, [, id, frame, bytes = ""]) => {
  const data = Buffer.from(bytes.replaceAll(" ", ""), "hex");
  clientOf(stage, id).ws.send(data, { binary: frame === "binary" });
};

/** The same frame once more, as after a lost connection. */
export const sendAgain: Move = async (stage, [, id, envelope = ""]) => {
  clientOf(stage, id).ws.send(sentText(stage, envelope));
};

function sendText({ sent }: Stage, { ws }: RoomMember, text: string): void {
  ws.send(text);
  const id = idOf(text);
  if (id !== undefined) sent.set(id, text);
}

/** What is no JSON is never received by anybody. */
function idOf(text: string): string | undefined {
  try {
    const id = JSON.parse(text)?.id;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

export const receive: Move = async (stage, [, id], { json }) => {
  expectMessage(stage, JSON.parse(json ?? ""), await clientOf(stage, id).next());
};

/** Every byte its sender wrote, in place; the gateway may have added fields behind them. */
export const receiveAsSent: Move = async (stage, [, id, envelope = ""]) => {
  const client = clientOf(stage, id);
  await client.next();
  const text = client.texts.at(-1 - client.inbox.length) ?? "";
  if (!text.startsWith(sentText(stage, envelope).slice(0, -1))) throw new Error(`received ${text}`);
};

function sentText({ sent }: Stage, envelope: string): string {
  const text = sent.get(envelope);
  if (text === undefined) throw new Error(`nobody has sent ${envelope}`);
  return text;
}

/**
 * The client that caused it has its answer already, so what there is to receive is on its way before our ping's pong.
 */
export const receiveNothing: Move = async (stage, [, id]) => {
  const client = clientOf(stage, id);
  await client.settled();
  if (client.inbox.length > 0) throw new Error(`received ${show(client.inbox)}`);
};

export const acked: Move = async (stage, [, id, envelope]) => {
  const ack = {
    kind: "system",
    from: "system:gateway",
    correlation_id: envelope,
    payload: { event: "ack", id: envelope, seq: "*", epoch: "*", at: "*" },
  };
  expectMessage(stage, ack, await clientOf(stage, id).next());
};

/** The usual refusal; a transcript about its shape writes it out. */
export const refused: Move = async (stage, [, id, envelope, reason]) => {
  const error = {
    kind: "system",
    from: "system:gateway",
    correlation_id: envelope,
    payload: { event: "error", reason },
  };
  expectMessage(stage, error, await clientOf(stage, id).next());
};

/** Sends `chat-1`, `chat-2` and so on; that they are acked, and echoed where that was asked for, is taken as said. */
export const chat: Move = async (stage, [, id, count]) => {
  const client = clientOf(stage, id);
  for (let n = 1; n <= Number(count); n += 1) {
    const envelope = { protocol: "mcpx/v0.1", kind: "chat", id: `chat-${n}`, payload: { text: `Chat ${n}` } };
    client.ws.send(JSON.stringify(envelope));
  }
  let last: Seen;
  do last = await client.next();
  while (last.payload.event !== "ack" || last.payload.id !== `chat-${count}`);
  await client.settled();
  client.inbox.length = 0;
};
