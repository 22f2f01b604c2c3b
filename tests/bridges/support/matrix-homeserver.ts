// A Matrix homeserver on loopback, as far as an application service sees one: the documented routes of the client-server
// and the application service APIs, strict about tokens, membership, sizes and transactions, which are brought in order
// and again until they are taken.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createLimits } from "./limits.ts";

type Content = Record<string, unknown>;

interface MatrixEvent {
  type: string;
  event_id: string;
  room_id: string;
  sender: string;
  content: Content;
  origin_server_ts: number;
  state_key?: string;
  isRedacted?: boolean;
}

export interface MatrixHomeserver {
  readonly port: number;
  readonly channel: string;
  readonly events: MatrixEvent[];
  readonly calls: { route: string; answer: string }[];
  /** Transactions that were not answered with 200. */
  readonly refused: number[];
  /** Where the application service listens. */
  servicePort: number;
  /** Nothing is brought to the application service. */
  isCut: boolean;
  trouble: { status: number; retryAfterMs?: number } | undefined;
  send(user: string, type: string, content: Content, room?: string): MatrixEvent;
  /** The room of two, made by the person's client where there is none. */
  directRoom(user: string): Promise<string>;
  /** What the application service said to one person alone. */
  heardBy(user: string): string[];
  /** A transaction as anybody could send it. */
  bring(id: string, events: object[], token?: string): Promise<number>;
  close(): Promise<void>;
}

export const matrixTokens = { as: "as-secret", hs: "hs-secret" };
export const bot = "@mcpx:example.org";
export const matrixUser = (name: string) => `@${name}:example.org`;
const eventBytesMax = 65_536;

interface Answer {
  status: number;
  body: Content;
}

const refusal = (status: number, errcode: string, error = errcode): Answer => ({
  status,
  body: { errcode, error },
});

export async function startHomeserver(): Promise<MatrixHomeserver> {
  const channel = "!ops:example.org";
  const members = new Map<string, Set<string>>([[channel, new Set()]]);
  const invited = new Map<string, Set<string>>([[channel, new Set([bot])]]);
  const transactions = new Map<string, string>();
  const accountData = new Map<string, Content>();
  const queue: MatrixEvent[] = [];
  const limits = createLimits({ send: { perSecond: 5, burst: 40 } });
  const ending = new AbortController();
  let bell = () => {};
  let count = 0;

  const add = (
    room: string,
    sender: string,
    type: string,
    content: Content,
    target?: string,
  ): MatrixEvent => {
    count += 1;
    const event: MatrixEvent = {
      ...{ type, event_id: `$event${count}`, room_id: room, sender, content, origin_server_ts: Date.now() },
      ...(target !== undefined && { state_key: target }),
    };
    homeserver.events.push(event);
    // The application service gets what happens in rooms its user is in or is invited to, its own doing included.
    if (members.get(room)?.has(bot) || target === bot) {
      queue.push(event);
      bell();
    }
    return event;
  };
  const enter = (room: string, user: string) => {
    members.set(room, (members.get(room) ?? new Set()).add(user));
    add(room, user, "m.room.member", { membership: "join" }, user);
  };
  const bring = async (id: string, events: object[], token = matrixTokens.hs) => {
    const response = await fetch(
      `http://127.0.0.1:${homeserver.servicePort}/_matrix/app/v1/transactions/${id}`,
      {
        method: "PUT",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ events }),
        signal: ending.signal,
      },
    );
    await response.arrayBuffer();
    return response.status;
  };
  /** One transaction at a time; the same one again until it is taken. */
  const bringAll = async () => {
    for (let transaction = 1; !ending.signal.aborted; transaction += 1) {
      if (queue.length === 0) await new Promise<void>((resolve) => (bell = resolve));
      const events = queue.splice(0, 100);
      while (events.length > 0 && !ending.signal.aborted) {
        const status = homeserver.isCut ? 0 : await bring(String(transaction), events).catch(() => 0);
        if (status === 200) break;
        if (status !== 0) homeserver.refused.push(status);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };

  const homeserver: MatrixHomeserver = {
    port: 0,
    channel,
    events: [],
    calls: [],
    refused: [],
    servicePort: 0,
    isCut: false,
    trouble: undefined,
    bring,
    send(user, type, content, room = channel) {
      if (!members.get(room)?.has(user)) enter(room, user);
      return add(room, user, type, content);
    },
    async directRoom(user) {
      const found = [...members].find(
        ([room, people]) => room !== channel && people.has(user) && people.has(bot),
      );
      if (found !== undefined) return found[0];
      const room = `!${randomUUID()}:example.org`;
      enter(room, user);
      invited.set(room, new Set([bot]));
      add(room, user, "m.room.member", { membership: "invite", is_direct: true }, bot);
      while (!members.get(room)?.has(bot)) await new Promise((resolve) => setTimeout(resolve, 5));
      return room;
    },
    heardBy(user) {
      const isTheirs = (room: string) => room !== channel && members.get(room)?.has(user) === true;
      return homeserver.events
        .filter(
          ({ type, sender, room_id: room }) => type === "m.room.message" && sender === bot && isTheirs(room),
        )
        .map(({ content }) => String(content.body));
    },
    async close() {
      ending.abort();
      bell();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };

  const sent = (room: string, type: string, key: string, content: Content): Answer => {
    if (!members.get(room)?.has(bot)) return refusal(403, "M_FORBIDDEN", "not in the room");
    const known = transactions.get(key);
    if (known !== undefined) return { status: 200, body: { event_id: known } };
    const afterMs = limits.take("send", room);
    if (afterMs > 0)
      return { status: 429, body: { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: Math.ceil(afterMs) } };
    if (Buffer.byteLength(JSON.stringify(content)) > eventBytesMax) return refusal(413, "M_TOO_LARGE");
    const faults = faultsOfContent(type, content, homeserver.events);
    if (faults.length > 0) return refusal(400, "M_BAD_JSON", faults.join("; "));
    const { event_id: id } = add(room, bot, type, content);
    transactions.set(key, id);
    return { status: 200, body: { event_id: id } };
  };
  const inRoom = (route: string, room: string, rest: string[], body: Content): Answer => {
    const [what = "", first = "", second = ""] = rest;
    switch (`${route} ${what}`) {
      case "POST join":
        if (!members.get(room)?.has(bot) && !invited.get(room)?.has(bot)) return refusal(403, "M_FORBIDDEN");
        if (!members.get(room)?.has(bot)) enter(room, bot);
        return { status: 200, body: { room_id: room } };
      case "PUT send":
        return sent(room, first, `${room} ${first} ${second}`, body);
      case "GET event": {
        const event = homeserver.events.find(({ event_id: id }) => id === first);
        return event === undefined ? refusal(404, "M_NOT_FOUND") : { status: 200, body: { ...event } };
      }
      case "GET joined_members":
        if (!members.get(room)?.has(bot)) return refusal(403, "M_FORBIDDEN");
        return {
          status: 200,
          body: { joined: Object.fromEntries([...(members.get(room) ?? [])].map((one) => [one, {}])) },
        };
      case "GET relations": {
        const isOne = ({ type, content, isRedacted }: MatrixEvent) =>
          type === "m.reaction" &&
          isRedacted !== true &&
          (content["m.relates_to"] as Content).event_id === first;
        return { status: 200, body: { chunk: homeserver.events.filter(isOne) } };
      }
      case "PUT redact": {
        const event = homeserver.events.find(({ event_id: id }) => id === first);
        if (event === undefined) return refusal(404, "M_NOT_FOUND");
        event.isRedacted = true;
        return {
          status: 200,
          body: { event_id: add(room, bot, "m.room.redaction", { redacts: first }).event_id },
        };
      }
    }
    return refusal(404, "M_UNRECOGNIZED");
  };
  const answer = (request: IncomingMessage, body: Content): Answer => {
    const { pathname } = new URL(request.url ?? "", "http://x");
    if (request.headers.authorization === undefined) return refusal(401, "M_MISSING_TOKEN");
    if (request.headers.authorization !== `Bearer ${matrixTokens.as}`) return refusal(401, "M_UNKNOWN_TOKEN");
    const [, version = "", ...parts] = /^\/_matrix\/client\/(v1|v3)\/(.*)$/.exec(pathname)?.slice(0, 3) ?? [];
    const [kind = "", room = "", ...rest] = (parts[0] ?? "").split("/").map(decodeURIComponent);
    const { method = "" } = request;
    const isRelations = rest[0] === "relations";
    if (isRelations !== (version === "v1")) return refusal(404, "M_UNRECOGNIZED");
    if (method === "GET" && `${kind}/${room}` === "account/whoami")
      return { status: 200, body: { user_id: bot } };
    if (kind === "rooms") return inRoom(method, room, rest, body);
    if (kind === "user" && rest.join("/") === "account_data/m.direct" && room === bot) {
      if (method === "PUT") accountData.set(room, body);
      const data = accountData.get(room);
      return data === undefined
        ? refusal(404, "M_NOT_FOUND")
        : { status: 200, body: method === "PUT" ? {} : data };
    }
    if (method === "POST" && kind === "createRoom") {
      const made = `!${randomUUID()}:example.org`;
      members.set(made, new Set([bot]));
      // Their clients accept it.
      for (const user of body.invite as string[]) enter(made, user);
      return { status: 200, body: { room_id: made } };
    }
    return refusal(404, "M_UNRECOGNIZED");
  };

  const http = createServer(async (request, response) => {
    const written = await text(request);
    const { trouble } = homeserver;
    const given: Answer =
      trouble === undefined
        ? answer(request, JSON.parse(written === "" ? "{}" : written) as Content)
        : {
            status: trouble.status,
            body: { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: trouble.retryAfterMs },
          };
    const why = given.status === 200 ? "" : ` ${String(given.body.error ?? "")}`;
    homeserver.calls.push({ route: `${request.method} ${request.url}`, answer: `${given.status}${why}` });
    response.writeHead(given.status, { "content-type": "application/json" }).end(JSON.stringify(given.body));
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  void bringAll();
  return Object.assign(homeserver, { port: (http.address() as AddressInfo).port });
}

function faultsOfContent(type: string, content: Content, events: readonly MatrixEvent[]): string[] {
  const relation = (content["m.relates_to"] ?? {}) as Content;
  const target = events.find(({ event_id: id }) => id === relation.event_id);
  const reply = relation["m.in_reply_to"] as Content | undefined;
  const isReplyToOne = reply === undefined || events.some(({ event_id: id }) => id === reply.event_id);
  if ((relation.rel_type !== undefined && target === undefined) || !isReplyToOne)
    return ["relates to nothing"];
  if (type === "m.reaction")
    return relation.rel_type === "m.annotation" && typeof relation.key === "string" ? [] : ["a bad reaction"];
  if (type !== "m.room.message") return [`unknown type ${type}`];
  const shown = [content, content["m.new_content"]].filter((one) => one !== undefined) as Content[];
  const isReplaced = relation.rel_type !== "m.replace" || (target?.sender === bot && shown.length === 2);
  return [
    ...(isReplaced ? [] : ["an edit of another's event, or without its new content"]),
    ...shown.flatMap(({ msgtype, body, format, formatted_body: html, "m.mentions": mentions }) => [
      ...(msgtype === "m.notice" && typeof body === "string" ? [] : ["not a notice"]),
      ...(format === "org.matrix.custom.html" && typeof html === "string" ? faultsOfHtml(html) : ["no HTML"]),
      ...(JSON.stringify(mentions) === "{}" ? [] : ["mentions are on"]),
    ]),
  ];
}

function faultsOfHtml(html: string): string[] {
  const rest = html.replace(/<\/?(p|strong|pre|code)>|<br>|<a href="https?:[^"<>]*">|<\/a>/g, "");
  return /[<>]/.test(rest) ? [`markup: ${rest.slice(0, 50)}`] : [];
}
