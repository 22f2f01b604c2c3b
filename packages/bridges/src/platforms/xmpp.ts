// XMPP: a multi-user chat (XEP-0045) as a channel, joined with an account of the bridge's own. Who speaks is the real
// address that the chat's server tells; where it tells none, nobody can be known, and nobody is heard.
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Platform, PlatformError, type PlatformEvents, type PlatformUser } from "../platform.ts";
import { type Post, plainText } from "../text/post.ts";
import { archiveQuery, archiveResult, readArchive } from "./xmpp-archive.ts";
import { createOwnEnd, type OwnEnd, type XmppAccount } from "./xmpp-entity.ts";
import type { XmlElement, XmppEntity } from "./xmpp-library.ts";
import { replies } from "./xmpp-reply.ts";
import { corrections, readSaid } from "./xmpp-said.ts";

export interface XmppOptions extends XmppAccount {
  /** How it is called in the chats. */
  readonly nick: string;
  /** The addresses of the chats. */
  readonly channels: readonly string[];
}

const muc = "http://jabber.org/protocol/muc";
const mucUser = "http://jabber.org/protocol/muc#user";
const stanzaIds = "urn:xmpp:sid:0";
const stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas";
const answerMs = 10_000;
const retryMs = { min: 500, max: 30_000 };

interface Waiting {
  /** Called with the server's answer. */
  done(answer: XmlElement): void;
  fail(error: PlatformError): void;
}

export function createXmppPlatform(options: XmppOptions): Platform {
  let events: PlatformEvents | undefined;
  let end: OwnEnd | undefined;
  /** Who is behind each nick, by chat. */
  const occupants = new Map<string, Map<string, string>>();
  const joined = new Set<string>();
  /** By the id of our own stanza. */
  const waiting = new Map<string, Waiting>();
  /** What archives have told so far, by the id of the query. */
  const told = new Map<string, { chat: string; results: XmlElement[] }>();

  const started = () => {
    if (end === undefined) throw new PlatformError("down", "the bridge has not started");
    return end;
  };
  const sendOnly = async (stanza: XmlElement) => {
    await started()
      .entity.send(stanza)
      .catch((cause: unknown) => {
        throw new PlatformError("down", "the XMPP server could not be reached", { cause });
      });
  };
  /** Resolves when the server has answered the stanza of this id. */
  const exchange = async (id: string, stanza: XmlElement): Promise<XmlElement> => {
    const { entity } = started();
    if (entity.status !== "online") throw new PlatformError("down", "not connected to the XMPP server");
    const { promise, resolve, reject } = Promise.withResolvers<XmlElement>();
    const timer = setTimeout(() => {
      // A connection that answers nothing is dead: another one is made.
      entity.disconnect().catch((error: unknown) => events?.lost(error));
      reject(new PlatformError("down", "the XMPP server does not answer"));
    }, answerMs);
    waiting.set(id, { done: resolve, fail: reject });
    try {
      await sendOnly(stanza);
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
  const enter = async (chat: string) => {
    const { xml, from } = started();
    const id = `enter-${chat}`;
    occupants.set(chat, new Map());
    const wish = xml("x", { xmlns: muc }, xml("history", { maxstanzas: "0" }));
    await exchange(id, xml("presence", { id, to: `${chat}/${options.nick}`, ...from }, wish));
    joined.add(chat);
  };
  const enterAll = async () => {
    const { xml, from } = started();
    // An account says that it is there; a component is.
    if (from.from === undefined) await sendOnly(xml("presence"));
    for (const chat of options.channels) await enter(chat);
  };
  const send = async (
    chat: string,
    key: string,
    post: Post,
    about: { replaced?: string | undefined; replyTo?: string | undefined } = {},
  ) => {
    if (!options.channels.includes(chat))
      throw new PlatformError("refused", `${chat} is not a chat of this bridge`);
    if (!joined.has(chat)) throw new PlatformError("down", `the chat ${chat} is not joined`);
    const { xml, from } = started();
    // Told apart from an earlier try by nothing: the chat itself drops no doubles, but clients do.
    const id = createHash("sha256").update(key).digest("hex").slice(0, 32);
    const body = xml("body", {}, sendable(plainText(post)));
    const { replaced, replyTo } = about;
    const more = replaced === undefined ? [] : [xml("replace", { xmlns: corrections, id: replaced })];
    if (replyTo !== undefined) {
      const [parent, rest] = splitAt(replyTo, " ");
      const nick = rest.startsWith("/") ? rest.slice(1) : options.nick;
      more.push(xml("reply", { xmlns: replies, to: `${chat}/${nick}`, id: parent }));
    }
    const message = xml("message", { type: "groupchat", to: chat, id, ...from }, body, ...more);
    const given = givenName(await exchange(id, message), chat);
    return given === undefined ? id : `${given} ${id}`;
  };

  const takePresence = (stanza: XmlElement) => {
    const [chat = "", nick = ""] = split(stanza.attrs.from);
    const seen = occupants.get(chat);
    if (seen === undefined) return;
    const { type } = stanza.attrs;
    if (type === "error") return waiting.get(stanza.attrs.id ?? `enter-${chat}`)?.fail(faultOf(stanza));
    const user = stanza.getChild("x", mucUser);
    const isOwn = user?.getChildren("status").some(({ attrs }) => attrs.code === "110") === true;
    const address = user?.getChild("item")?.attrs.jid;
    if (type === "unavailable" || address === undefined) seen.delete(nick);
    else seen.set(nick, bare(address));
    if (!isOwn) return;
    if (type !== "unavailable") return waiting.get(`enter-${chat}`)?.done(stanza);
    // Thrown out, or the chat is gone.
    joined.delete(chat);
    void enterAgain(chat);
  };
  /** Until the bridge is in the chat again, or the connection is another one. */
  const enterAgain = async (chat: string) => {
    const { entity } = started();
    for (let attempt = 0; entity.status === "online" && !joined.has(chat); attempt += 1) {
      try {
        await enter(chat);
        events?.found();
      } catch (error) {
        events?.lost(error);
        await wait(Math.min(retryMs.min * 2 ** attempt, retryMs.max), undefined, { ref: false });
      }
    }
  };
  const takeMessage = (stanza: XmlElement) => {
    const { type, id = "", from } = stanza.attrs;
    const [address = "", nick = ""] = split(from);
    if (type === "error") return waiting.get(id)?.fail(faultOf(stanza));
    const result = archiveResult(stanza);
    if (result !== undefined) {
      // Anybody can send something that looks like one: only what was asked for counts, from the chat that was asked.
      const query = told.get(result.attrs.queryid ?? "");
      if (query !== undefined && query.chat === from) query.results.push(result);
      return undefined;
    }
    const seen = occupants.get(address);
    if (seen !== undefined && nick === options.nick && type === "groupchat")
      return waiting.get(id)?.done(stanza);
    // What is said again when somebody enters was said before.
    if (stanza.getChild("delay") !== undefined) return undefined;
    const user = whoIs(seen, address, nick);
    const isPublic = type === "groupchat";
    if (user === undefined || isPublic === (seen === undefined)) return undefined;
    const channel = isPublic ? address : undefined;
    const said = readSaid(stanza, { channel, nick, user, given: givenName(stanza, address) });
    return said && void events?.said(said);
  };
  const takeAnswer = (stanza: XmlElement) => {
    const { id = "", type } = stanza.attrs;
    if (type === "error") waiting.get(id)?.fail(faultOf(stanza));
    else if (type === "result") waiting.get(id)?.done(stanza);
  };

  /** Everything was entered, and nothing is known to be wrong. */
  let isUp = false;
  const lose = () => {
    joined.clear();
    if (isUp) events?.lost(new PlatformError("down", "the connection to the XMPP server was lost"));
    isUp = false;
    for (const { fail } of [...waiting.values()]) fail(new PlatformError("down", "the connection was lost"));
  };

  return {
    can: {
      buttons: false,
      edits: "in place",
      carries: "everything",
      charsMax: 5_000,
      pace: { perSecond: 5, burst: 10 },
    },
    async start(given) {
      events = given;
      end = await createOwnEnd(options);
      const { entity } = end;
      entity.reconnect.delay = retryMs.min;
      let isStarted = false;
      entity.on("error", (error) => {
        // What fails at the start is told by `start`. Where it does not come back, it is tried less often.
        if (isStarted) given.lost(error);
        entity.reconnect.delay = Math.min(entity.reconnect.delay * 2, retryMs.max);
      });
      entity.on("disconnect", lose);
      entity.on("stanza", (stanza) => {
        if (stanza.name === "presence") takePresence(stanza);
        if (stanza.name === "message") takeMessage(stanza);
        if (stanza.name === "iq") takeAnswer(stanza);
      });
      try {
        await entity.start();
        await enterAll();
      } catch (cause) {
        entity.reconnect.stop();
        await stop(entity);
        if (cause instanceof PlatformError) throw cause;
        throw new PlatformError("down", `the XMPP server cannot be reached: ${String(cause)}`, { cause });
      }
      [isStarted, isUp] = [true, true];
      const enterAgainAll = async () => {
        entity.reconnect.delay = retryMs.min;
        await enterAll();
        isUp = true;
        given.found();
      };
      entity.on("online", () => {
        enterAgainAll().catch((error: unknown) => {
          given.lost(error);
          // Another connection tries again.
          entity.disconnect().catch(given.lost);
        });
      });
    },
    async missed(chat, since) {
      const { xml, from } = started();
      const id = crypto.randomUUID();
      const results: XmlElement[] = [];
      told.set(id, { chat, results });
      try {
        const iq = xml("iq", { type: "set", id, to: chat, ...from }, archiveQuery(xml, id, since));
        const own = `${options.username}@${options.domain}`.toLowerCase();
        return readArchive(results, await exchange(id, iq), { chat, own, since });
      } finally {
        told.delete(id);
      }
    },
    post: (channel, post, key, replyTo) => send(channel, key, post, { replyTo }),
    async edit(channel, ref, post) {
      await send(channel, crypto.randomUUID(), post, { replaced: ref.split(" ").at(-1) });
    },
    async whisper({ key }, _channel, text) {
      const { xml, from } = started();
      await sendOnly(xml("message", { type: "chat", to: key, ...from }, xml("body", {}, sendable(text))));
    },
    async close() {
      if (end === undefined) return;
      isUp = false;
      end.entity.reconnect.stop();
      await stop(end.entity);
    },
  };
}

/** It rejects where the connection was lost before: then it is over as well. */
async function stop(entity: XmppEntity): Promise<void> {
  await entity.stop().catch(() => {});
}

function givenName(stanza: XmlElement, chat: string): string | undefined {
  return stanza.getChildren("stanza-id", stanzaIds).find(({ attrs }) => attrs.by === chat)?.attrs.id;
}

/** In a chat only the real address counts, in private the sender's own. */
function whoIs(
  seen: ReadonlyMap<string, string> | undefined,
  address: string,
  nick: string,
): PlatformUser | undefined {
  if (seen === undefined) return address.includes("@") ? { key: address.toLowerCase() } : undefined;
  const real = seen.get(nick);
  return real === undefined ? undefined : { key: real, name: nick };
}

/** XML has no way to write these. */
function sendable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

function faultOf(stanza: XmlElement): PlatformError {
  const error = stanza.getChild("error");
  const condition = ["resource-constraint", "policy-violation", "remote-server-timeout"].find(
    (one) => error?.getChild(one, stanzaErrors) !== undefined,
  );
  const text =
    error?.getChildText("text", stanzaErrors) ?? condition ?? error?.attrs.type ?? "no reason given";
  const isPassing = error?.attrs.type === "wait" || condition !== undefined;
  return new PlatformError(isPassing ? "busy" : "refused", `the XMPP server refused it: ${text}`);
}

function split(address: string | undefined): [string, string] {
  return splitAt(address ?? "", "/");
}

function splitAt(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function bare(address: string): string {
  return split(address)[0].toLowerCase();
}
