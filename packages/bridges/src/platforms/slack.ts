// Slack: events over Socket Mode, everything else over the Web API, both with Slack's own libraries. Who speaks or presses
// is the team and user id of Slack's event; what a button carries is a card's id and nothing else.

import { isObject, type JsonObject } from "@mcpx/protocol";
import type { WebClient } from "@slack/web-api";
import {
  type MissedPage,
  type Platform,
  PlatformError,
  type PlatformEvents,
  type PlatformUser,
  type Said,
} from "../platform.ts";
import type { Post } from "../text/post.ts";
import { loadOptional } from "./load-optional.ts";
import { openSlackSocket, type SlackEnvelope, silent } from "./slack-socket.ts";
import { escaped, heardText, slackMessage } from "./slack-text.ts";

export interface SlackOptions {
  /** `xoxb-…`, with `chat:write` and the `…:history` scopes. Asked for at each call. */
  botToken(): string;
  /** `xapp-…`, with `connections:write`. Asked for at each connection. */
  appToken(): string;
  /** Slack's own unless given. */
  readonly apiUrl?: string | undefined;
}

const slackUrl = "https://slack.com/api/";
const answerMs = 10_000;
/** Slack waits three seconds for an acknowledgement; what takes longer is acknowledged all the same. */
const handledMs = 2_000;
/** Messages of one page, and of all that was missed. */
const missedPage = 200;
const missedMax = 2_000;
/** What is left out is counted, in the longest pages that Slack gives. */
const countedPage = 999;
const countedMax = 10_000;
const shownSubtypes: readonly unknown[] = [undefined, "file_share", "thread_broadcast", "me_message"];

export function createSlackPlatform({ botToken, appToken, apiUrl = slackUrl }: SlackOptions): Platform {
  let events: PlatformEvents | undefined;
  let web: WebClient | undefined;
  let socket: { close(): Promise<void> } | undefined;

  let team: unknown;

  const call = async (method: string, given: Record<string, unknown>): Promise<Record<string, unknown>> => {
    if (web === undefined) throw new PlatformError("down", "the bridge has not started");
    try {
      return { ...(await web.apiCall(method, given)) };
    } catch (error) {
      throw faultOf(method, error);
    }
  };
  const take = async ({ ack, type, body }: SlackEnvelope) => {
    if (type === "interactive") {
      // Where this fails, Slack has told the person so: nothing is decided then.
      await ack();
      return pressed(body, events);
    }
    const said = type === "events_api" ? saidIn(body) : undefined;
    if (said !== undefined) await within(handledMs, events?.said(said));
    // What is not acknowledged comes again, and counts once.
    return ack();
  };

  return {
    can: {
      buttons: true,
      edits: "in place",
      carries: "everything",
      charsMax: 3_000,
      // One a second for each channel, with short bursts.
      pace: { perSecond: 1, burst: 5 },
    },
    async start(given) {
      events = given;
      const { WebClient } = await loadOptional("@slack/web-api", () => import("@slack/web-api"));
      const { SocketModeClient } = await loadOptional(
        "@slack/socket-mode",
        () => import("@slack/socket-mode"),
      );
      web = new WebClient(undefined, {
        slackApiUrl: apiUrl,
        logger: silent,
        timeout: answerMs,
        // The engine waits and tries again, for all platforms alike.
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        fetch: (url, init) =>
          fetch(url, {
            ...init,
            headers: { ...init?.headers, authorization: `Bearer ${botToken()}` },
          } as RequestInit),
      });
      ({ team_id: team } = await call("auth.test", {}));
      socket = await openSlackSocket({
        Client: SocketModeClient,
        appToken,
        apiUrl,
        take: (envelope) => void take(envelope).catch(given.failed),
        lost: given.lost,
        found: given.found,
      });
    },
    missed: (channel, since) => missed(call, { channel, since, team }),
    async post(channel, post, _key, replyTo) {
      // A reply is answered in the thread it is in: Slack has no threads in threads.
      const root = replyTo?.split(" ").at(-1);
      const thread = root === undefined ? {} : { thread_ts: root };
      const { ts } = await call("chat.postMessage", { channel, ...thread, ...quiet, ...slackMessage(post) });
      return refOf(ts, root);
    },
    async edit(channel, ref, post: Post) {
      await call("chat.update", { channel, ts: ref.split(" ", 1)[0], ...slackMessage(post) });
    },
    async whisper({ key }, channel, text) {
      const user = key.slice(key.indexOf(":") + 1);
      if (channel === undefined)
        await call("chat.postMessage", { channel: user, ...quiet, text: escaped(text) });
      else await call("chat.postEphemeral", { channel, user, text: escaped(text) });
    },
    async close() {
      await socket?.close();
    },
  };
}

function refOf(ts: unknown, root: string | undefined): string {
  return root === undefined ? String(ts) : `${String(ts)} ${root}`;
}

/** No previews of addresses, nothing made of words. */
const quiet = { unfurl_links: false, unfurl_media: false, parse: "none", mrkdwn: false };

function saidIn(body: unknown): Said | undefined {
  if (!isObject(body) || !isObject(body.event)) return undefined;
  const { event } = body;
  if (event.type !== "message" || typeof event.channel !== "string") return undefined;
  const isEdit = event.subtype === "message_changed";
  const message = isEdit ? event.message : event;
  if (!isObject(message) || message.bot_id !== undefined) return undefined;
  const { edited, subtype, ts, thread_ts: thread } = message;
  // A change without an edit is Slack's own: a preview was added.
  if (isEdit && !isObject(edited)) return undefined;
  if (!shownSubtypes.includes(subtype)) return undefined;
  const user = userOf(message.user, message.user_team ?? message.team ?? body.team_id);
  const text = [heardText(typeof message.text === "string" ? message.text : ""), ...filesOf(message.files)]
    .filter((line) => line !== "")
    .join("\n");
  if (user === undefined || text === "") return undefined;
  const root = typeof thread === "string" && thread !== ts ? thread : undefined;
  const change = isEdit && isObject(edited) ? `:${String(edited.ts)}` : "";
  return {
    channel: event.channel_type === "im" ? undefined : event.channel,
    user,
    id: `${event.channel}:${String(ts)}${change}`,
    text,
    ...(isEdit && { isEdit }),
    ref: refOf(ts, root),
    ...(root !== undefined && { replyTo: { message: root } }),
    // Answers in threads are not part of the channel's history: they move no mark.
    ...(!isEdit && root === undefined && { at: String(ts) }),
  };
}

interface Missed {
  channel: string;
  since: string | undefined;
  team: unknown;
}

/** Slack tells the newest first: all of it is read before any of it is said. */
async function missed(
  call: (method: string, given: Record<string, unknown>) => Promise<Record<string, unknown>>,
  { channel, since, team }: Missed,
): Promise<MissedPage> {
  const page = async (limit: number, cursor: string) => {
    const wish = { channel, limit, ...(since && { oldest: since }), ...(cursor && { cursor }) };
    const { messages, response_metadata: more } = await call("conversations.history", wish);
    const next = isObject(more) && typeof more.next_cursor === "string" ? more.next_cursor : "";
    return { messages: Array.isArray(messages) ? messages.filter(isObject) : [], next };
  };
  const said = (message: JsonObject) =>
    saidIn({ team_id: team, event: { ...message, channel, channel_type: "channel" } }) ?? [];
  let { messages: found, next } = await page(since === undefined ? 1 : missedPage, "");
  const newest = found[0]?.ts;
  const at = typeof newest === "string" ? newest : (since ?? "0");
  if (since === undefined) return { said: [], at, isMore: false };
  while (next !== "" && found.length < missedMax) {
    const more = await page(missedPage, next);
    found = [...found, ...more.messages];
    ({ next } = more);
  }
  let count = 0;
  while (next !== "" && count < countedMax) {
    const older = await page(countedPage, next);
    count += older.messages.flatMap(said).length;
    ({ next } = older);
  }
  const leftOut = count === 0 ? undefined : { count, isUncounted: next !== "" };
  return { said: found.reverse().flatMap(said), at, isMore: false, leftOut };
}

/** Files stay at Slack, which asks who wants to see them. */
function filesOf(files: unknown): string[] {
  return (Array.isArray(files) ? files : []).flatMap((file: unknown) =>
    isObject(file) && typeof file.permalink === "string" ? [`${String(file.name)}: ${file.permalink}`] : [],
  );
}

async function pressed(body: unknown, events: PlatformEvents | undefined): Promise<void> {
  if (!isObject(body) || body.type !== "block_actions") return;
  const { user, team, channel, actions } = body;
  if (!isObject(user) || !isObject(channel) || !Array.isArray(actions)) return;
  const who = userOf(user.id, user.team_id ?? (isObject(team) ? team.id : undefined), user.username);
  for (const action of actions as unknown[]) {
    if (who === undefined || !isObject(action)) continue;
    const { action_id: verb, value } = action;
    if ((verb !== "approve" && verb !== "reject") || typeof value !== "string") continue;
    await events?.pressed({ channel: String(channel.id), user: who, card: value, verb });
  }
}

/** A user's id is only good within their team: people of other teams are in shared channels. */
function userOf(id: unknown, team: unknown, name?: unknown): PlatformUser | undefined {
  if (typeof id !== "string" || typeof team !== "string") return undefined;
  return { key: `${team}:${id}`, name: typeof name === "string" ? name : undefined };
}

async function within(ms: number, work: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Somebody can mend these while posts wait: they are not thrown away. */
const mendable: Readonly<Record<string, string>> = {
  not_in_channel: "invite the app to the channel",
  channel_not_found: "invite the app to the channel, or correct its id",
  missing_scope: "give the app the scope and install it again",
  invalid_auth: "the bot token is not valid",
  not_authed: "the bot token is missing",
  account_inactive: "the app was removed from the workspace",
  token_revoked: "install the app again for a new token",
  token_expired: "install the app again for a new token",
};
const passing: readonly string[] = [
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
];
const busy: readonly string[] = ["ratelimited", "rate_limited", "message_limit_exceeded"];

function faultOf(method: string, error: unknown): PlatformError {
  const { code, retryAfter, statusCode, data } = (error ?? {}) as Record<string, unknown>;
  const options = { cause: error };
  switch (code) {
    case "slack_webapi_rate_limited_error":
      return new PlatformError("busy", `Slack limits ${method}`, {
        ...options,
        retryAfterMs: Number(retryAfter) * 1_000,
      });
    case "slack_webapi_platform_error": {
      const word = isObject(data) ? String(data.error) : "no reason given";
      if (busy.includes(word)) return new PlatformError("busy", `Slack limits ${method}: ${word}`, options);
      const fix = mendable[word];
      const isPassing = fix !== undefined || passing.includes(word);
      const said = `Slack refused ${method}: ${word}${fix === undefined ? "" : `; ${fix}`}`;
      return new PlatformError(isPassing ? "down" : "refused", said, options);
    }
    case "slack_webapi_http_error": {
      const isRefused = Number(statusCode) >= 400 && Number(statusCode) < 500 && statusCode !== 408;
      return new PlatformError(
        isRefused ? "refused" : "down",
        `Slack answered ${method} with ${String(statusCode)}`,
        options,
      );
    }
    default:
      return new PlatformError("down", "Slack cannot be reached", options);
  }
}
