// Discord: events over its gateway, everything else over REST, both with the libraries that discord.js is made of. Who
// speaks or presses is the user's id in Discord's event; what a button carries is a verb and a card's id.
import { createHash } from "node:crypto";
import type { REST } from "@discordjs/rest";
import { isObject, type JsonObject } from "@mcpx/protocol";
import {
  type Platform,
  PlatformError,
  type PlatformEvents,
  type PlatformUser,
  type ReplyTo,
  type Said,
} from "../platform.ts";
import { openDiscordGateway } from "./discord-gateway.ts";
import { discordMessage, escaped, heardText } from "./discord-text.ts";
import { loadOptional } from "./load-optional.ts";

export interface DiscordOptions {
  /** Of the bot. Asked for at each call. */
  token(): string;
  /** Discord's own unless given. */
  readonly apiUrl?: string | undefined;
}

const discordUrl = "https://discord.com/api";
const answerMs = 10_000;
/** Discord lets an interaction be followed for fifteen minutes. */
const followMs = 14 * 60_000;
const followedMax = 1_000;
const missedPage = 100;
const spoken: readonly unknown[] = [0, 19];
const buttonShape = /^(approve|reject):([0-9a-z]{1,64})$/;

export function createDiscordPlatform({ token, apiUrl = discordUrl }: DiscordOptions): Platform {
  let events: PlatformEvents | undefined;
  let rest: REST | undefined;
  let gateway: { close(): Promise<void> } | undefined;
  /** By person and channel: what they pressed last, which can be answered so that only they see it. */
  const followed = new Map<string, { path: `/${string}`; until: number }>();

  const call = async (method: "get" | "post" | "patch", path: `/${string}`, body?: object, auth = true) => {
    if (rest === undefined) throw new PlatformError("down", "the bridge has not started");
    try {
      // After a refusal the library forgets the token.
      rest.setToken(token());
      return (await rest[method](path, { body, auth })) as unknown;
    } catch (error) {
      throw faultOf(error);
    }
  };
  const follow = (user: string, channel: string, path: `/${string}`) => {
    if (followed.size >= followedMax) followed.clear();
    followed.set(`${user} ${channel}`, { path, until: Date.now() + followMs });
  };
  const press = async (data: unknown) => {
    const read = pressIn(data);
    if (read === undefined) return;
    const { id, secret, application, ...press } = read;
    // Where this fails, Discord has told the person so: nothing is decided then.
    await call("post", `/interactions/${id}/${secret}/callback`, { type: 6 }, false);
    follow(press.user.key, press.channel, `/webhooks/${application}/${secret}`);
    await events?.pressed(press);
  };
  const take = (event: string, data: unknown) => {
    if (event === "INTERACTION_CREATE") void press(data).catch((error: unknown) => events?.failed(error));
    const said = event === "MESSAGE_CREATE" || event === "MESSAGE_UPDATE" ? saidIn(data, event) : undefined;
    if (said !== undefined) void events?.said(said);
  };

  return {
    can: {
      buttons: true,
      edits: "in place",
      carries: "everything",
      charsMax: 1_900,
      pace: { perSecond: 1, burst: 5 },
    },
    async start(given) {
      events = given;
      const { REST } = await loadOptional("@discordjs/rest", () => import("@discordjs/rest"));
      const { WebSocketManager } = await loadOptional("@discordjs/ws", () => import("@discordjs/ws"));
      rest = new REST({
        api: apiUrl,
        version: "10",
        timeout: answerMs,
        // The engine waits and tries again, for all platforms alike.
        retries: 0,
        rejectOnRateLimit: () => true,
      });
      // A token that is not valid is told at once, not by silence.
      await call("get", "/gateway/bot");
      gateway = await openDiscordGateway({
        ...{ Manager: WebSocketManager, token, rest, take, lost: given.lost, found: given.found },
      });
    },
    async post(channel, post, key, replyTo) {
      // The same post tried again is one message (within the minutes that Discord remembers).
      const nonce = createHash("sha256").update(key).digest("hex").slice(0, 25);
      // A message that was deleted meanwhile is answered by a plain one.
      const parent = { message_id: replyTo, fail_if_not_exists: false };
      const reply = replyTo === undefined ? {} : { message_reference: parent };
      const message = { ...discordMessage(post), ...reply, nonce, enforce_nonce: true };
      return idOf(await call("post", `/channels/${channel}/messages`, message));
    },
    async missed(channel, since) {
      // Discord tells the oldest of what came after a message, the newest of them first.
      const asked = since === undefined ? "limit=1" : `limit=${missedPage}&after=${since}`;
      const answer = await call("get", `/channels/${channel}/messages?${asked}`);
      const found = Array.isArray(answer) ? answer.filter(isObject).reverse() : [];
      const at = found.at(-1)?.id ?? since ?? "0";
      if (since === undefined) return { said: [], at: String(at), isMore: false };
      // What it is a message of is not said in it.
      const said = found.flatMap((data) => saidIn({ ...data, channel_id: channel, guild_id: "0" }) ?? []);
      return { said, at: String(at), isMore: found.length === missedPage };
    },
    async edit(channel, ref, post) {
      await call("patch", `/channels/${channel}/messages/${ref}`, discordMessage(post));
    },
    async whisper({ key }, channel, text) {
      const message = { content: escaped(text), allowed_mentions: { parse: [] } };
      const open = followed.get(`${key} ${channel}`);
      if (open !== undefined && Date.now() < open.until) {
        await call("post", open.path, { ...message, flags: 64 }, false);
        return;
      }
      const id = idOf(await call("post", "/users/@me/channels", { recipient_id: key }));
      await call("post", `/channels/${id}/messages`, message);
    },
    async close() {
      await gateway?.close();
      rest?.clearHashSweeper();
      rest?.clearHandlerSweeper();
    },
  };
}

function idOf(answer: unknown): string {
  return String(isObject(answer) ? answer.id : undefined);
}

function saidIn(data: unknown, event = "MESSAGE_CREATE"): Said | undefined {
  if (!isObject(data)) return undefined;
  const {
    id,
    channel_id: channel,
    guild_id: server,
    author,
    content,
    type = 0,
    edited_timestamp: edited,
  } = data;
  if (typeof id !== "string" || typeof channel !== "string" || !spoken.includes(type)) return undefined;
  if (!isObject(author) || author.bot === true || data.webhook_id !== undefined) return undefined;
  const isEdit = event === "MESSAGE_UPDATE";
  // A change without an edit is Discord's own: a preview was added.
  if (isEdit && typeof edited !== "string") return undefined;
  const user = userOf(author);
  const words = heardText(typeof content === "string" ? content : "", namesIn(data.mentions));
  const text = [words, ...filesOf(data.attachments)].filter((line) => line !== "").join("\n");
  if (user === undefined || text === "") return undefined;
  return {
    channel: server === undefined ? undefined : channel,
    user,
    id: isEdit ? `${id}:${String(edited)}` : id,
    text,
    ...(isEdit && { isEdit }),
    ref: id,
    ...(!isEdit && { at: id }),
    replyTo: type === 19 ? replyIn(data, channel) : undefined,
  };
}

/** What is quoted from another channel is for those who may read that one. */
function replyIn({ message_reference: reference, referenced_message: parent }: JsonObject, channel: string) {
  if (!isObject(reference) || typeof reference.message_id !== "string") return undefined;
  if (reference.channel_id !== channel) return undefined;
  const reply: ReplyTo = { message: reference.message_id };
  const isThere = isObject(parent) && parent.id === reference.message_id && parent.channel_id === channel;
  if (!isThere || typeof parent.content !== "string") return reply;
  return { ...reply, text: heardText(parent.content, namesIn(parent.mentions)) };
}

function namesIn(mentions: unknown): Map<string, string> {
  const people = Array.isArray(mentions) ? mentions.filter(isObject) : [];
  return new Map(people.map(({ id, username }) => [String(id), String(username)]));
}

function filesOf(attachments: unknown): string[] {
  const files = Array.isArray(attachments) ? attachments.filter(isObject) : [];
  return files.flatMap(({ filename, url }) =>
    typeof url === "string" ? [`${String(filename)}: ${url}`] : [],
  );
}

function pressIn(data: unknown) {
  if (!isObject(data) || data.type !== 3 || !isObject(data.data)) return undefined;
  const { id, token: secret, application_id: application, channel_id: channel, member, user } = data;
  const [, verb, card] = buttonShape.exec(String(data.data.custom_id)) ?? [];
  const who = userOf(isObject(member) ? member.user : user);
  const isWhole = [id, secret, application, channel].every((one) => typeof one === "string");
  if (!isWhole || who === undefined || card === undefined || (verb !== "approve" && verb !== "reject"))
    return undefined;
  return {
    ...{ id: String(id), secret: String(secret), application: String(application) },
    ...({ channel: String(channel), user: who, card, verb } as const),
  };
}

function userOf(user: unknown): PlatformUser | undefined {
  if (!isObject(user) || typeof user.id !== "string") return undefined;
  const name = user.global_name ?? user.username;
  return { key: user.id, name: typeof name === "string" ? name : undefined };
}

/** Somebody can mend these while posts wait: they are not thrown away. */
const mendable: Readonly<Record<string, string>> = {
  0: "the bot token is not valid",
  50001: "let the bot see the channel",
  50013: "let the bot send messages in the channel",
};

function faultOf(error: unknown): PlatformError {
  const { name, status, code, message, retryAfter, timeToReset } = (error ?? {}) as Record<string, unknown>;
  const options = { cause: error };
  if (timeToReset !== undefined) {
    const ms = Math.max(Number(retryAfter), Number(timeToReset));
    return new PlatformError("busy", "Discord limits posts here", { ...options, retryAfterMs: ms });
  }
  const isAnswer = typeof status === "number" && String(name).startsWith("DiscordAPIError");
  if (!isAnswer) return new PlatformError("down", `Discord cannot be reached: ${String(message)}`, options);
  const fix = mendable[String(code)];
  const said = `Discord refused it: ${String(message)} (${String(code)})${fix === undefined ? "" : `; ${fix}`}`;
  return new PlatformError(fix === undefined ? "refused" : "down", said, options);
}
