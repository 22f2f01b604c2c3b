// A Slack workspace on loopback, made from Slack's documentation and strict about it: which arguments a method takes, what
// Block Kit allows, tokens and their kinds, limits with Retry-After, Socket Mode with tickets that count once, hello,
// acknowledgements within three seconds, and what comes again without one.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type WebSocket, WebSocketServer } from "ws";
import { createLimits, type Limits } from "./limits.ts";
import { faultsOfBlocks, type SlackBlock, shownText } from "./slack-blocks.ts";

interface SlackPost {
  channel: string;
  ts: string;
  text: string;
  blocks: SlackBlock[];
  edits: number;
  thread: string | undefined;
}

export interface SlackWorkspace {
  /** Of the Web API; `viaPort` is a proxy in front of it, which tickets lead through too. */
  apiUrl(viaPort?: number): string;
  readonly port: number;
  readonly channel: string;
  readonly posts: SlackPost[];
  /** What people said in the channel. */
  readonly said: { ts: string; text: string; thread: string | undefined }[];
  /** What only one person sees, by user. */
  readonly whispers: { user: string; text: string }[];
  /** Methods that were called, in order, those that were refused too. */
  readonly calls: { method: string; answer: string }[];
  /** Envelopes that were not acknowledged within three seconds. */
  readonly late: string[];
  say(
    user: string,
    message: string,
    more?: {
      channel?: string;
      ts?: string;
      edited?: boolean;
      team?: string;
      files?: object[];
      shownAs?: string;
      thread?: string;
    },
  ): Promise<void>;
  tell(user: string, message: string): Promise<void>;
  press(
    user: string,
    actionId: string,
    value: string,
    more?: { team?: string; shownAs?: string },
  ): Promise<void>;
  /** Tells every connection that it will be closed. */
  refresh(): Promise<void>;
  /** Connections that have been greeted. */
  connections(): number;
  /** Whether the app is in the channel. */
  isInvited: boolean;
  /** What nobody was connected for is gone, as it is after some hours: it is told by `conversations.history` alone. */
  forgets: boolean;
  /** Every call from now on gets this, or the truth again. */
  trouble: { status: number; retryAfter?: string } | undefined;
  close(): Promise<void>;
}

export const slackTokens = { bot: "xoxb-1-2-abc", app: "xapp-1-A-2-abc" };
export const slackTeam = "T0MCPX";
const ackMs = 3_000;

const methods: Record<string, { token: string; needed: string[]; more: string[] }> = {
  "auth.test": { token: slackTokens.bot, needed: [], more: [] },
  "apps.connections.open": { token: slackTokens.app, needed: [], more: [] },
  "conversations.history": {
    token: slackTokens.bot,
    needed: ["channel"],
    more: ["cursor", "inclusive", "latest", "limit", "oldest"],
  },
  "chat.postMessage": {
    token: slackTokens.bot,
    needed: ["channel", "text"],
    more: [
      "blocks",
      "thread_ts",
      "unfurl_links",
      "unfurl_media",
      "parse",
      "mrkdwn",
      "link_names",
      "metadata",
    ],
  },
  "chat.update": {
    token: slackTokens.bot,
    needed: ["channel", "ts", "text"],
    more: ["blocks", "parse", "link_names"],
  },
  "chat.postEphemeral": {
    token: slackTokens.bot,
    needed: ["channel", "user", "text"],
    more: ["blocks", "thread_ts", "parse"],
  },
};

export async function startSlackWorkspace(): Promise<SlackWorkspace> {
  const sockets = new Set<WebSocket>();
  const tickets = new Map<string, number>();
  const waiting: { type: string; payload: object; attempt: number }[] = [];
  const unacknowledged = new Map<string, () => void>();
  let limits: Limits = createLimits();
  /** Of the channel, as `conversations.history` tells it: messages, and no answers in threads. */
  const history: { ts: string; [more: string]: unknown }[] = [];
  let clock = 0;
  const nextTs = () => {
    clock = Math.max(clock + 1, Date.now() * 1_000);
    return `${Math.floor(clock / 1_000_000)}.${String(clock % 1_000_000).padStart(6, "0")}`;
  };

  const workspace: SlackWorkspace = {
    port: 0,
    channel: "C0OPS",
    posts: [],
    said: [],
    whispers: [],
    calls: [],
    late: [],
    isInvited: true,
    forgets: false,
    trouble: undefined,
    apiUrl: (viaPort) => `http://127.0.0.1:${viaPort ?? workspace.port}/api/`,
    connections: () => sockets.size,
    async say(user, message, { channel = workspace.channel, ts = nextTs(), edited = false, ...more } = {}) {
      const { team = slackTeam, files, shownAs, thread } = more;
      if (!edited) workspace.said.push({ ts, text: message, thread });
      const profile = shownAs && {
        user_profile: { name: shownAs, display_name: shownAs, real_name: shownAs },
      };
      const said = {
        type: "message",
        user,
        team,
        text: encoded(message),
        ts,
        ...(thread && { thread_ts: thread }),
      };
      const body = { ...said, ...(files && { files }), ...profile };
      if (!edited && channel === workspace.channel && thread === undefined) history.push(body);
      const event = edited
        ? {
            type: "message",
            subtype: "message_changed",
            channel,
            channel_type: "channel",
            ts: nextTs(),
            message: { ...body, edited: { user, ts: nextTs() } },
            previous_message: body,
          }
        : { ...body, channel, channel_type: channel.startsWith("D") ? "im" : "channel" };
      deliver("events_api", eventBody(event));
    },
    tell: (user, message) => workspace.say(user, message, { channel: `D${user.slice(1)}` }),
    async press(user, actionId, value, { team = slackTeam, shownAs = user.toLowerCase() } = {}) {
      const post = workspace.posts.findLast(({ blocks }) => JSON.stringify(blocks).includes(`"${value}"`));
      const container = { type: "message", message_ts: post?.ts ?? nextTs(), channel_id: workspace.channel };
      const action = { type: "button", block_id: "b1", action_id: actionId, value, action_ts: nextTs() };
      const who = { id: user, username: shownAs, name: shownAs, team_id: team };
      if (sockets.size === 0) throw new Error("Slack: This app is not responding");
      deliver("interactive", {
        ...{ type: "block_actions", team: { id: slackTeam, domain: "mcpx" }, user: who, api_app_id: "A0" },
        ...{ container, channel: { id: workspace.channel, name: "ops" }, actions: [action], token: "legacy" },
      });
    },
    async refresh() {
      for (const socket of [...sockets]) {
        sockets.delete(socket);
        socket.send(
          JSON.stringify({ type: "disconnect", reason: "refresh_requested", debug_info: { host: "h" } }),
        );
        // Slack answers the closing frame, and leaves its end of the connection open.
        const { _socket: wire } = socket as unknown as { _socket: { end(): void } };
        wire.end = () => {};
      }
    },
    async close() {
      for (const done of unacknowledged.values()) done();
      for (const socket of server.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };

  /** To one of the connections, whichever; what nobody acknowledges comes again, three times. */
  const deliver = (type: string, payload: object, attempt = 0) => {
    const all = [...sockets];
    const socket = all[Math.floor(Math.random() * all.length)];
    if (socket === undefined) return void (workspace.forgets || waiting.push({ type, payload, attempt }));
    const id = randomUUID();
    const retry = attempt === 0 ? {} : { retry_attempt: attempt, retry_reason: "timeout" };
    socket.send(
      JSON.stringify({ envelope_id: id, type, payload, accepts_response_payload: false, ...retry }),
    );
    const timer = setTimeout(() => {
      unacknowledged.delete(id);
      workspace.late.push(type);
      if (type === "events_api" && attempt < 3) deliver(type, payload, attempt + 1);
    }, ackMs);
    return void unacknowledged.set(id, () => clearTimeout(timer));
  };

  const answer = (request: IncomingMessage, method: string, given: Record<string, string>): Answer => {
    const rule = methods[method];
    if (rule === undefined) return { ok: false, error: "unknown_method" };
    const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
    if (token === undefined) return { ok: false, error: "not_authed" };
    if (token !== rule.token)
      return { ok: false, error: /^x(oxb|app)-1-/.test(token) ? "not_allowed_token_type" : "invalid_auth" };
    const strange = Object.keys(given).find((key) => ![...rule.needed, ...rule.more].includes(key));
    if (strange !== undefined) return { ok: false, error: "invalid_arguments", detail: strange };
    const missing = rule.needed.find((key) => (given[key] ?? "") === "");
    if (missing !== undefined)
      return { ok: false, error: missing === "text" ? "no_text" : "invalid_arguments" };
    const afterMs = limits.take(method, given.channel ?? "");
    if (afterMs > 0) return { ok: false, error: "ratelimited", afterMs };
    return done(request, method, given);
  };
  const done = (request: IncomingMessage, method: string, given: Record<string, string>): Answer => {
    const { channel = "", text: words = "", ts = "", user = "" } = given;
    const blocks = JSON.parse(given.blocks ?? "[]") as SlackBlock[];
    const faults = faultsOfBlocks(blocks);
    if (faults.length > 0) return { ok: false, error: "invalid_blocks", detail: faults.join("; ") };
    if (words.length > 40_000) return { ok: false, error: "msg_too_long" };
    // Slack would make mentions and links of these.
    if (/[<>]/.test(words)) return { ok: false, error: "markup in the text" };
    switch (method) {
      case "auth.test":
        return { ok: true, team_id: slackTeam, user_id: "U0BOT", bot_id: "B0BOT" };
      case "conversations.history": {
        if (channel !== workspace.channel) return { ok: false, error: "channel_not_found" };
        if (!workspace.isInvited) return { ok: false, error: "not_in_channel" };
        const limit = Number(given.limit ?? "100");
        if (!(limit >= 1 && limit <= 999)) return { ok: false, error: "invalid_limit" };
        const from = Number((given.cursor ?? "c0").slice(1));
        const found = history
          .filter((one) => Number(one.ts) > Number(given.oldest ?? "0"))
          .sort((a, b) => Number(b.ts) - Number(a.ts));
        const next = from + limit < found.length ? `c${from + limit}` : "";
        const messages = found.slice(from, from + limit);
        return { ok: true, messages, has_more: next !== "", response_metadata: { next_cursor: next } };
      }
      case "apps.connections.open": {
        if (sockets.size >= 10) return { ok: false, error: "too_many_websockets" };
        const ticket = randomUUID();
        tickets.set(ticket, Date.now());
        return { ok: true, url: `ws://${request.headers.host}/link/?ticket=${ticket}&app_id=A0` };
      }
      case "chat.postEphemeral":
        if (channel !== workspace.channel) return { ok: false, error: "channel_not_found" };
        workspace.whispers.push({ user, text: decoded(words) });
        return { ok: true, message_ts: nextTs() };
      case "chat.postMessage": {
        if (/^[UW]/.test(channel)) {
          workspace.whispers.push({ user: channel, text: decoded(words) });
          return { ok: true, channel: `D${channel.slice(1)}`, ts: nextTs() };
        }
        if (channel !== workspace.channel) return { ok: false, error: "channel_not_found" };
        if (!workspace.isInvited) return { ok: false, error: "not_in_channel" };
        const thread = given.thread_ts;
        // A thread begins with a message that is in none.
        const isRoot = ({ ts, thread: within }: { ts: string; thread: string | undefined }) =>
          ts === thread && within === undefined;
        if (thread !== undefined && ![...workspace.posts, ...workspace.said].some(isRoot))
          return { ok: false, error: "thread_not_found" };
        const post = {
          channel,
          thread,
          ts: nextTs(),
          text: blocks.length > 0 ? shownText(blocks) : decoded(words),
          blocks,
          edits: 0,
        };
        workspace.posts.push(post);
        if (thread === undefined)
          history.push({ type: "message", user: "U0BOT", bot_id: "B0BOT", ts: post.ts, text: words });
        return { ok: true, channel, ts: post.ts };
      }
      case "chat.update": {
        const post = workspace.posts.find((one) => one.ts === ts && one.channel === channel);
        if (post === undefined) return { ok: false, error: "message_not_found" };
        Object.assign(post, { text: shownText(blocks), blocks, edits: post.edits + 1 });
        return { ok: true, channel, ts };
      }
    }
    return { ok: false, error: "unknown_method" };
  };
  const http = createServer(async (request, response) => {
    const body = await text(request);
    const method = /^\/api\/([a-zA-Z.]+)$/.exec(request.url ?? "")?.[1];
    if (request.method !== "POST" || method === undefined) return void response.writeHead(404).end();
    if (workspace.trouble !== undefined) {
      const { status, retryAfter } = workspace.trouble;
      workspace.calls.push({ method, answer: String(status) });
      return void response
        .writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter })
        .end();
    }
    const isForm = request.headers["content-type"] === "application/x-www-form-urlencoded";
    const result: Answer = isForm
      ? answer(request, method, Object.fromEntries(new URLSearchParams(body)))
      : { ok: false, error: "invalid_form_data" };
    workspace.calls.push({
      method,
      answer: result.ok ? "ok" : [result.error, result.detail].filter(Boolean).join(": "),
    });
    send(response, result);
  });
  const server = new WebSocketServer({ noServer: true });
  http.on("upgrade", (request, socket, head) => {
    const ticket = new URL(request.url ?? "", "http://x").searchParams.get("ticket") ?? "";
    const madeAt = tickets.get(ticket);
    tickets.delete(ticket);
    if (madeAt === undefined || Date.now() - madeAt > 30_000)
      return void socket.end("HTTP/1.1 408 Request Timeout\r\n\r\n");
    server.handleUpgrade(request, socket, head, greet);
  });
  const greet = (socket: WebSocket) => {
    const info = {
      num_connections: sockets.size + 1,
      debug_info: { host: "h" },
      connection_info: { app_id: "A0" },
    };
    socket.send(JSON.stringify({ type: "hello", ...info }));
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const { envelope_id: id, ...rest } = JSON.parse(String(data)) as { envelope_id: string };
      const isKnown = unacknowledged.get(id);
      if (isKnown === undefined || Object.keys(rest).some((key) => key !== "payload"))
        workspace.late.push(`strange: ${String(data)}`);
      isKnown?.();
      unacknowledged.delete(id);
    });
    for (const { type, payload, attempt } of waiting.splice(0)) deliver(type, payload, attempt);
  };
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  limits = createLimits({
    "chat.postMessage": { perSecond: 1, burst: 6, isPerChannel: true },
    "conversations.history": { perSecond: 50 / 60, burst: 50 },
    "chat.update": { perSecond: 50 / 60, burst: 50 },
    "chat.postEphemeral": { perSecond: 100 / 60, burst: 100 },
    "apps.connections.open": { perSecond: 1 / 60, burst: 20 },
  });
  return Object.assign(workspace, { port: (http.address() as AddressInfo).port });
}

interface Answer {
  ok: boolean;
  error?: string;
  detail?: string;
  afterMs?: number;
  [more: string]: unknown;
}

function send(response: ServerResponse, { afterMs, detail: _, ...result }: Answer): void {
  const headers = { "content-type": "application/json; charset=utf-8" };
  if (afterMs === undefined) response.writeHead(200, headers);
  else response.writeHead(429, { ...headers, "retry-after": String(Math.ceil(afterMs / 1_000)) });
  response.end(JSON.stringify(result));
}

function eventBody(event: object): object {
  return {
    type: "event_callback",
    team_id: slackTeam,
    api_app_id: "A0",
    event,
    event_id: `Ev${randomUUID()}`,
    event_time: 1,
  };
}

/** As Slack's own clients send what somebody types. */
function encoded(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function decoded(words: string): string {
  return words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
