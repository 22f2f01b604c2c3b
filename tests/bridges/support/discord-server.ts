// Discord on loopback, made from its documentation and strict about it: routes, tokens, what a message may hold, limits
// told in headers, and interactions that must be answered within three seconds.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { WebSocketServer } from "ws";
import { createDiscordGateway, type DiscordGateway } from "./discord-gateway.ts";
import { type DiscordBody, faultsOfMessage, shownText } from "./discord-messages.ts";
import { createLimits } from "./limits.ts";

interface DiscordPost {
  id: string;
  channel: string;
  text: string;
  body: DiscordBody;
  edits: number;
}

export interface DiscordServer {
  readonly port: number;
  readonly channel: string;
  readonly gateway: DiscordGateway;
  readonly posts: DiscordPost[];
  /** What people said in the channel. */
  readonly said: { id: string; text: string }[];
  readonly whispers: { user: string; text: string; isEphemeral: boolean }[];
  readonly calls: { route: string; answer: string }[];
  /** Interactions that nobody answered in time. */
  readonly late: string[];
  say(
    user: string,
    message: string,
    more?: { id?: string; channel?: string; edited?: boolean; extra?: object },
  ): void;
  tell(user: string, message: string): void;
  press(user: string, customId: string, shownAs?: string): void;
  /** Every call from now on gets this, or the truth again. */
  trouble: { status: number; retryAfter?: number; code?: number } | undefined;
  /** Takes what it is given, and breaks the connection instead of an answer. */
  losesAnswers: boolean;
  close(): Promise<void>;
}

export const discordToken = "MTIz.abc.def";
const answerMs = 3_000;
/** Since when snowflakes count. */
const firstMs = 1_420_070_400_000;
const inChannel = /^\/channels\/(\d+)\/messages$/;
const oneMessage = /^\/channels\/(\d+)\/messages\/(\d+)$/;

interface Answer {
  status: number;
  body?: object;
  why?: string;
  headers?: Record<string, string>;
}

export async function startDiscord(): Promise<DiscordServer> {
  /** Of the channel, oldest first. */
  const history: { id: string }[] = [];
  let count = 0n;
  const snowflake = () => {
    const now = BigInt(Date.now() - firstMs) << 22n;
    count = now > count ? now : count + 1n;
    return String(count);
  };
  const interactions = new Map<
    string,
    { id: string; user: string; state: "open" | "answered"; timer: NodeJS.Timeout }
  >();
  const limits = createLimits({
    "POST messages": { perSecond: 1, burst: 6, isPerChannel: true },
    "PATCH messages": { perSecond: 1, burst: 6, isPerChannel: true },
  });
  const direct = new Map<string, string>();
  const gateway = createDiscordGateway(discordToken, (request) => `ws://${request.headers.host}`);
  const message = (user: string, content: string, id: string) => ({
    ...{ id, type: 0, content, timestamp: new Date().toISOString(), edited_timestamp: null as string | null },
    ...{
      author: { id: userId(user), username: user, global_name: null },
      mentions: [],
      attachments: [],
      embeds: [],
    },
  });
  const discord: DiscordServer = {
    port: 0,
    channel: "4242",
    gateway,
    posts: [],
    said: [],
    whispers: [],
    calls: [],
    late: [],
    trouble: undefined,
    losesAnswers: false,
    say(user, content, { id = snowflake(), channel = discord.channel, edited = false, extra = {} } = {}) {
      const made = { ...message(user, content, id), channel_id: channel, guild_id: "77", ...extra };
      if (!edited) discord.said.push({ id, text: content });
      if (!edited && channel === discord.channel) {
        // What REST tells of a message does not say in which server it is.
        const { guild_id: _, ...told } = made;
        history.push(told);
      }
      if (edited) made.edited_timestamp = new Date().toISOString();
      gateway.dispatch(edited ? "MESSAGE_UPDATE" : "MESSAGE_CREATE", made);
    },
    tell(user, content) {
      gateway.dispatch("MESSAGE_CREATE", {
        ...message(user, content, snowflake()),
        channel_id: `9${userId(user)}`,
      });
    },
    press(user, customId, shownAs = user) {
      const [id, token] = [snowflake(), randomUUID()];
      const timer = setTimeout(() => {
        interactions.delete(token);
        discord.late.push(customId);
      }, answerMs);
      interactions.set(token, { id, user: userId(user), state: "open", timer });
      gateway.dispatch("INTERACTION_CREATE", {
        ...{
          id,
          token,
          application_id: "2",
          type: 3,
          version: 1,
          channel_id: discord.channel,
          guild_id: "77",
        },
        ...{
          data: { custom_id: customId, component_type: 2 },
          member: { nick: shownAs, user: { id: userId(user), username: shownAs, global_name: shownAs } },
        },
      });
    },
    async close() {
      for (const { timer } of interactions.values()) clearTimeout(timer);
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };

  const postMessage = (channel: string, body: DiscordBody): Answer => {
    const faults = faultsOfMessage(body);
    if (faults.length > 0)
      return { status: 400, body: { code: 50035, message: "Invalid Form Body" }, why: faults.join("; ") };
    const user = direct.get(channel);
    if (user !== undefined) {
      discord.whispers.push({ user, text: shownText(body), isEphemeral: false });
      return { status: 200, body: { id: snowflake() } };
    }
    if (channel !== discord.channel)
      return { status: 404, body: { code: 10003, message: "Unknown Channel" } };
    const known = discord.posts.find((post) => body.enforce_nonce === true && post.body.nonce === body.nonce);
    if (known !== undefined) return { status: 200, body: { id: known.id } };
    const { message_reference: reference } = body;
    const isThere = [...discord.posts, ...discord.said].some(({ id }) => id === reference?.message_id);
    if (reference?.fail_if_not_exists === true && !isThere)
      return { status: 400, body: { code: 50035, message: "Unknown message" } };
    const afterMs = limits.take("POST messages", channel);
    if (afterMs > 0) return tooMany(afterMs);
    const post = { id: snowflake(), channel, text: shownText(body), body, edits: 0 };
    discord.posts.push(post);
    history.push({ ...message("mcpx", post.text, post.id), author: { id: "2", bot: true } } as never);
    return { status: 200, body: { id: post.id } };
  };
  const editMessage = (channel: string, id: string, body: DiscordBody): Answer => {
    const faults = faultsOfMessage(body);
    if (faults.length > 0)
      return { status: 400, body: { code: 50035, message: "Invalid Form Body" }, why: faults.join("; ") };
    const post = discord.posts.find((one) => one.id === id && one.channel === channel);
    if (post === undefined) return { status: 404, body: { code: 10008, message: "Unknown Message" } };
    const afterMs = limits.take("PATCH messages", channel);
    if (afterMs > 0) return tooMany(afterMs);
    Object.assign(post, { text: shownText(body), body: { ...post.body, ...body }, edits: post.edits + 1 });
    return { status: 200, body: { id } };
  };
  const messagesOf = (channel: string, query: URLSearchParams): Answer => {
    if (channel !== discord.channel)
      return { status: 404, body: { code: 10003, message: "Unknown Channel" } };
    const limit = Number(query.get("limit") ?? "50");
    if (!(limit >= 1 && limit <= 100))
      return { status: 400, body: { code: 50035, message: "Invalid Form Body" }, why: "limit" };
    const after = query.get("after");
    const sorted = history.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    const found = sorted.filter(({ id }) => after === null || BigInt(id) > BigInt(after));
    const page = after === null ? found.slice(-limit) : found.slice(0, limit);
    return { status: 200, body: page.reverse() };
  };
  /** Without the bot's token: the interaction's own is in the address. */
  const follow = (route: string, body: DiscordBody & { type?: number }): Answer | undefined => {
    const [, id, secret] = /^POST \/interactions\/(\d+)\/([^/]+)\/callback$/.exec(route) ?? [];
    const found = interactions.get(secret ?? /^POST \/webhooks\/2\/([^/]+)$/.exec(route)?.[1] ?? "");
    if (secret !== undefined) {
      if (found === undefined || found.id !== id)
        return { status: 404, body: { code: 10062, message: "Unknown interaction" } };
      if (found.state !== "open")
        return { status: 400, body: { code: 40060, message: "already acknowledged" } };
      clearTimeout(found.timer);
      found.state = "answered";
      return body.type === 6
        ? { status: 204 }
        : { status: 400, body: { code: 50035, message: "Invalid Form Body" } };
    }
    if (!route.startsWith("POST /webhooks/")) return undefined;
    if (found?.state !== "answered")
      return { status: 404, body: { code: 10015, message: "Unknown Webhook" } };
    if (faultsOfMessage(body).length > 0)
      return { status: 400, body: { code: 50035, message: "Invalid Form Body" } };
    discord.whispers.push({ user: found.user, text: shownText(body), isEphemeral: body.flags === 64 });
    return { status: 200, body: { id: snowflake() } };
  };
  const answer = (
    request: IncomingMessage,
    route: string,
    body: DiscordBody & { recipient_id?: string },
  ): Answer => {
    const followed = follow(route, body);
    if (followed !== undefined) return followed;
    if (request.headers.authorization !== `Bot ${discordToken}`)
      return { status: 401, body: { code: 0, message: "401: Unauthorized" } };
    if (!/^DiscordBot \(/.test(request.headers["user-agent"] ?? ""))
      return { status: 403, body: { code: 40333, message: "no user agent" } };
    const [method, whole = ""] = route.split(" ");
    const [path = "", query = ""] = whole.split("?");
    if (route === "GET /gateway/bot") {
      const limit = { total: 1_000, remaining: 999, reset_after: 1, max_concurrency: 1 };
      return {
        status: 200,
        body: { url: `ws://${request.headers.host}`, shards: 1, session_start_limit: limit },
      };
    }
    if (route === "POST /users/@me/channels") {
      const id = `9${body.recipient_id}`;
      direct.set(id, body.recipient_id ?? "");
      return { status: 200, body: { id, type: 1 } };
    }
    const [, channel = "", one = ""] = oneMessage.exec(path) ?? inChannel.exec(path) ?? [];
    if (method === "GET" && inChannel.test(path)) return messagesOf(channel, new URLSearchParams(query));
    if (method === "POST" && inChannel.test(path)) return postMessage(channel, body);
    if (method === "PATCH" && oneMessage.test(path)) return editMessage(channel, one, body);
    return { status: 404, body: { code: 0, message: "404: Not Found" } };
  };

  const http = createServer(async (request, response) => {
    const written = await text(request);
    const [, path] = /^\/api\/v10(\/.*)$/.exec(request.url ?? "") ?? [];
    const route = `${request.method} ${path}`;
    const { trouble } = discord;
    const given: Answer =
      trouble?.status === 429
        ? tooMany((trouble.retryAfter ?? 1) * 1_000)
        : trouble !== undefined
          ? { status: trouble.status, body: { code: trouble.code ?? 0, message: "trouble" } }
          : answer(request, route, JSON.parse(written === "" ? "{}" : written));
    discord.calls.push({
      route: route.replace(/\d{4,}|[0-9a-f-]{36}/g, "…"),
      answer: [given.status, given.why].filter(Boolean).join(" "),
    });
    if (discord.losesAnswers) return void response.destroy();
    const kind = given.body === undefined ? {} : { "content-type": "application/json" };
    response.writeHead(given.status, { ...kind, ...given.headers });
    response.end(given.body === undefined ? undefined : JSON.stringify(given.body));
  });
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket, request) => gateway.take(socket, request));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return Object.assign(discord, { port: (http.address() as AddressInfo).port });
}

function tooMany(afterMs: number): Answer {
  const seconds = afterMs / 1_000;
  return {
    status: 429,
    body: { message: "You are being rate limited.", retry_after: seconds, global: false },
    headers: {
      "retry-after": String(Math.ceil(seconds)),
      "x-ratelimit-scope": "user",
      "x-ratelimit-bucket": "b1",
    },
  };
}

/** A snowflake for each name. */
export function userId(name: string): string {
  return `5${[...name].map((letter) => String(letter.charCodeAt(0)).padStart(3, "0")).join("")}`;
}
