// Matrix: an application service, to which the homeserver brings every event of its rooms. Who speaks or reacts is the
// sender the homeserver tells; which card a reaction is about stands in the card's own event.
import { createHash, randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Platform, PlatformEvents, Verb } from "../platform.ts";
import { createMatrixClient, isFinal, matrixPath } from "./matrix-client.ts";
import { createDirectRooms } from "./matrix-direct.ts";
import { openMatrixService } from "./matrix-service.ts";
import { cardKey, heardContent, matrixContent, matrixEdit, matrixReply, reactions } from "./matrix-text.ts";

export interface MatrixOptions {
  /** `https://matrix.example.com` */
  readonly homeserver: string;
  /** `as_token` and `hs_token` of the registration. Asked for at each call. */
  asToken(): string;
  hsToken(): string;
  /** The address at which the homeserver delivers events. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Ids of rooms. */
  readonly channels: readonly string[];
}

/** The homeserver waits a minute at most; what takes longer is delivered again, and counts once. */
const handledMs = 10_000;
const handledMax = 1_000;
const noticeText = "m.room.message";

export function createMatrixPlatform(options: MatrixOptions): Platform {
  const { homeserver, asToken, hsToken, channels } = options;
  const { call } = createMatrixClient(homeserver, asToken);
  let events: PlatformEvents | undefined;
  let own = "";
  let service: { close(): Promise<void> } | undefined;
  const handled = new Set<string>();
  /** One transaction after the other. */
  let line: Promise<void> = Promise.resolve();
  const direct = createDirectRooms(call, () => own);

  const send = async (room: string, type: string, key: string, content: JsonObject): Promise<string> => {
    // The same transaction again is the same event.
    const id = createHash("sha256").update(key).digest("hex").slice(0, 32);
    const path = matrixPath`/_matrix/client/v3/rooms/${room}/send/${type}/${id}`;
    return String((await call("PUT", path, content)).event_id);
  };
  const react = (room: string, ref: string, key: string, verb: Verb) => {
    const relation = { rel_type: "m.annotation", event_id: ref, key: reactions[verb] };
    return send(room, "m.reaction", `${key}-${verb}`, { "m.relates_to": relation });
  };
  /** The bridge's own reactions, which are there to be pressed. */
  const takeReactionsAway = async (room: string, ref: string) => {
    const path = matrixPath`/_matrix/client/v1/rooms/${room}/relations/${ref}/m.annotation/m.reaction`;
    const { chunk } = await call("GET", path);
    for (const event of Array.isArray(chunk) ? chunk.filter(isObject) : []) {
      if (event.sender !== own || typeof event.event_id !== "string") continue;
      await call(
        "PUT",
        matrixPath`/_matrix/client/v3/rooms/${room}/redact/${event.event_id}/${`redact-${event.event_id}`}`,
        {},
      );
    }
  };
  const join = (room: string) => call("POST", matrixPath`/_matrix/client/v3/rooms/${room}/join`, {});

  const hear = async (event: JsonObject, room: string, sender: string) => {
    const permalink = `https://matrix.to/#/${room}/${String(event.event_id)}`;
    const said = isObject(event.content) ? heardContent(event.content, permalink) : undefined;
    if (said === undefined || said.text === "") return;
    const isChannel = channels.includes(room);
    if (!isChannel && !(await direct.isWith(room, sender))) return;
    const { text, isEdit, replaced, thread, replyTo } = said;
    const id = String(event.event_id);
    const more = { id, text, ...(isEdit && { isEdit }), ref: refOf(replaced ?? id, thread), replyTo };
    await events?.said({ channel: isChannel ? room : undefined, user: { key: sender }, ...more });
  };
  const press = async ({ content }: JsonObject, room: string, sender: string) => {
    const relation = isObject(content) ? content["m.relates_to"] : undefined;
    if (!isObject(relation) || relation.rel_type !== "m.annotation" || !channels.includes(room)) return;
    const verb = verbOf(relation.key);
    if (verb === undefined || typeof relation.event_id !== "string") return;
    const path = matrixPath`/_matrix/client/v3/rooms/${room}/event/${relation.event_id}`;
    const target = await call("GET", path);
    // Anybody can write a card's id into an event of their own.
    if (target.sender !== own || !isObject(target.content)) return;
    const card = target.content[cardKey];
    if (typeof card === "string") await events?.pressed({ channel: room, user: { key: sender }, card, verb });
  };
  const remember = (id: string) => {
    handled.add(id);
    const [oldest] = handled;
    if (handled.size > handledMax && oldest !== undefined) handled.delete(oldest);
  };
  const takeOne = async (event: JsonObject) => {
    const { type, room_id: room, sender, state_key: target, content } = event;
    if (typeof room !== "string" || typeof sender !== "string" || sender === own) return;
    if (type === noticeText) await hear(event, room, sender);
    else if (type === "m.reaction") await press(event, room, sender);
    else if (
      type === "m.room.member" &&
      target === own &&
      isObject(content) &&
      content.membership === "invite"
    ) {
      if (channels.includes(room) || content.is_direct === true) await join(room);
    }
  };
  /** What was said in its order; nobody's press waits for another's. What was handled is not handled again. */
  const takeAll = async (given: JsonObject[]) => {
    const presses: Promise<void>[] = [];
    for (const event of given) {
      const id = String(event.event_id);
      if (handled.has(id)) continue;
      // An event that can never be handled must not hold up those after it; any other brings all of them again.
      const work = takeOne(event)
        .catch(unlessFinal)
        .then(() => remember(id));
      if (event.type === "m.reaction") presses.push(work);
      else await work;
    }
    await Promise.all(presses);
  };
  const take = async (given: JsonObject[]) => {
    const work = line.then(() => takeAll(given));
    line = work.catch(() => {
      // Only requests that wait for this transaction get the fault, not those that wait for the next one.
    });
    const late = AbortSignal.timeout(handledMs);
    const tooLate = new Promise<never>((_, reject) =>
      late.addEventListener("abort", () => reject(late.reason)),
    );
    await Promise.race([work, tooLate]);
  };

  return {
    can: {
      buttons: true,
      edits: "in place",
      carries: "everything",
      // An event has 65 536 bytes, and an edit has everything twice, each as text and as HTML.
      charsMax: 4_000,
      pace: { perSecond: 2, burst: 10 },
    },
    async start(given) {
      events = given;
      own = String((await call("GET", "/_matrix/client/v3/account/whoami")).user_id);
      service ??= await openMatrixService({
        ...options.listen,
        hsToken,
        isOwnUser: (user) => user === own,
        take,
      });
      for (const room of channels) await join(room);
    },
    async post(channel, post, key, replyTo) {
      const content = { ...matrixContent(post), ...(replyTo !== undefined && matrixReply(replyTo)) };
      const id = await send(channel, noticeText, key, content);
      for (const { verb } of post.buttons) await react(channel, id, key, verb);
      return refOf(id, replyTo?.split(" ")[1]);
    },
    async edit(channel, posted, post) {
      const [ref = posted] = posted.split(" ", 1);
      await send(channel, noticeText, randomUUID(), matrixEdit(ref, post));
      if (post.buttons.length === 0) await takeReactionsAway(channel, ref);
    },
    async whisper({ key }, _channel, text) {
      const content = matrixContent({ parts: [{ kind: "text", text }], buttons: [] });
      await send(await direct.roomWith(key), noticeText, randomUUID(), content);
    },
    async close() {
      await service?.close();
      service = undefined;
    },
  };
}

function refOf(id: string, thread: string | undefined): string {
  return thread === undefined ? id : `${id} ${thread}`;
}

function verbOf(key: unknown): Verb | undefined {
  // Clients add or leave out the sign that makes a character an emoji.
  const plain = typeof key === "string" ? key.replaceAll("\ufe0f", "") : undefined;
  if (plain === reactions.approve) return "approve";
  return plain === reactions.reject ? "reject" : undefined;
}

function unlessFinal(error: unknown): void {
  if (!isFinal(error)) throw error;
}
