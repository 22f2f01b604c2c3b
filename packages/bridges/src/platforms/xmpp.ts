// XMPP: a multi-user chat (XEP-0045) as a channel, joined with an account of the bridge's own. Who speaks is the real
// address that the chat's server tells; where it tells none, nobody can be known, and nobody is heard.
import { createHash } from "node:crypto";
import { type Platform, PlatformError, type PlatformEvents, type PlatformUser } from "../platform.ts";
import { type Post, plainText } from "../text/post.ts";
import { loadOptional } from "./load-optional.ts";
import { declineResumption, type XmlElement, type XmppEntity, type XmppLibrary } from "./xmpp-library.ts";
import { heardReply, replies } from "./xmpp-reply.ts";

export interface XmppOptions {
  /** `xmpps://HOST:PORT` (TLS), or `xmpp://HOST:PORT` (STARTTLS; plain on loopback alone). */
  readonly service: string;
  /** Of the account; the host of the service unless given. */
  readonly domain: string;
  readonly username: string;
  /** Asked for at each connection: it may be replaced meanwhile. */
  password(): string;
  /** How it is called in the chats. */
  readonly nick: string;
  /** The addresses of the chats. */
  readonly channels: readonly string[];
}

const muc = "http://jabber.org/protocol/muc";
const mucUser = "http://jabber.org/protocol/muc#user";
const corrections = "urn:xmpp:message-correct:0";
const stanzaIds = "urn:xmpp:sid:0";
const stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas";
const answerMs = 10_000;
const packageName: string = "@xmpp/client";

interface Waiting {
  /** With the name that the chat has given the stanza, where it gives any. */
  done(given?: string): void;
  fail(error: PlatformError): void;
}

export function createXmppPlatform(options: XmppOptions): Platform {
  let events: PlatformEvents | undefined;
  let library: XmppLibrary | undefined;
  let entity: XmppEntity | undefined;
  /** Who is behind each nick, by chat. */
  const occupants = new Map<string, Map<string, string>>();
  const joined = new Set<string>();
  /** By the id of our own stanza. */
  const waiting = new Map<string, Waiting>();

  const build = () => {
    if (library === undefined) throw new PlatformError("down", "the bridge has not started");
    return library.xml;
  };
  /** Resolves when the server has answered the stanza of this id. */
  const exchange = async (id: string, stanza: XmlElement): Promise<string | undefined> => {
    if (entity?.status !== "online") throw new PlatformError("down", "not connected to the XMPP server");
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(() => {
      // A connection that answers nothing is dead: another one is made.
      void entity?.disconnect().catch(() => {});
      reject(new PlatformError("down", "the XMPP server does not answer"));
    }, answerMs);
    waiting.set(id, { done: resolve, fail: reject });
    try {
      await entity.send(stanza).catch((cause: unknown) => {
        throw new PlatformError("down", "the XMPP server could not be reached", { cause });
      });
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
  const enter = async (chat: string) => {
    const xml = build();
    const id = `enter-${chat}`;
    occupants.set(chat, new Map());
    const wish = xml("x", { xmlns: muc }, xml("history", { maxstanzas: "0" }));
    await exchange(id, xml("presence", { id, to: `${chat}/${options.nick}` }, wish));
    joined.add(chat);
  };
  const enterAll = async () => {
    await entity?.send(build()("presence"));
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
    const xml = build();
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
    const given = await exchange(id, xml("message", { type: "groupchat", to: chat, id }, body, ...more));
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
    if (type !== "unavailable") return waiting.get(`enter-${chat}`)?.done();
    // Thrown out, or the chat is gone: the next post tries it again.
    joined.delete(chat);
    void enter(chat).catch((error: unknown) => events?.failed(error));
  };
  const takeMessage = (stanza: XmlElement) => {
    const { type, id = "", from } = stanza.attrs;
    const [address = "", nick = ""] = split(from);
    if (type === "error") return waiting.get(id)?.fail(faultOf(stanza));
    const seen = occupants.get(address);
    const given = stanza.getChildren("stanza-id", stanzaIds).find(({ attrs }) => attrs.by === address)
      ?.attrs.id;
    if (seen !== undefined && nick === options.nick && type === "groupchat")
      return waiting.get(id)?.done(given);
    const body = stanza.getChildText("body");
    // What is said again when somebody enters was said before.
    if (body === null || stanza.getChild("delay") !== undefined) return undefined;
    const user = whoIs(seen, address, nick);
    if (user === undefined) return undefined;
    const isPublic = type === "groupchat";
    if (isPublic === (seen === undefined)) return undefined;
    const { text, replyTo } = heardReply(stanza, body);
    const isEdit = stanza.getChild("replace", corrections) !== undefined;
    return void events?.said({
      channel: isPublic ? address : undefined,
      user,
      id: given ?? crypto.randomUUID(),
      text,
      ...(isEdit && { isEdit }),
      // A correction has a name of its own, and says itself what it answers.
      ref: given === undefined || isEdit ? undefined : `${given} /${nick}`,
      replyTo: isPublic ? replyTo : undefined,
    });
  };

  const lose = () => {
    joined.clear();
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
      library ??= await loadOptional(packageName, async () => (await import(packageName)) as XmppLibrary);
      const next = library.client({
        service: options.service,
        domain: options.domain,
        resource: `mcpx-${crypto.randomUUID()}`,
        credentials: async (authenticate, mechanisms, _fast, connection) => {
          const isSafe = connection.isSecure() || isLoopback(options.service);
          if (!isSafe)
            throw new PlatformError("refused", "the XMPP server offers no TLS; the password was not sent");
          const mechanism = connection.isSecure() ? mechanisms[0] : mechanisms.find((one) => one !== "PLAIN");
          await authenticate({ username: options.username, password: options.password() }, mechanism);
        },
      });
      declineResumption(next);
      next.reconnect.delay = 500;
      // Each is followed by what is done about it.
      next.on("error", () => {});
      next.on("disconnect", lose);
      next.on("stanza", (stanza) => {
        if (stanza.name === "presence") takePresence(stanza);
        if (stanza.name === "message") takeMessage(stanza);
      });
      entity = next;
      try {
        await next.start();
        await enterAll();
      } catch (cause) {
        next.reconnect.stop();
        await next.stop().catch(() => {});
        if (cause instanceof PlatformError) throw cause;
        throw new PlatformError("down", `the XMPP server cannot be reached: ${String(cause)}`, { cause });
      }
      next.on("online", () => void enterAll().catch(given.failed));
    },
    post: (channel, post, key, replyTo) => send(channel, key, post, { replyTo }),
    async edit(channel, ref, post) {
      await send(channel, crypto.randomUUID(), post, { replaced: ref.split(" ").at(-1) });
    },
    async whisper({ key }, _channel, text) {
      await entity?.send(build()("message", { type: "chat", to: key }, build()("body", {}, sendable(text))));
    },
    async close() {
      entity?.reconnect.stop();
      await entity?.stop().catch(() => {});
    },
  };
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

function isLoopback(service: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(service)?.hostname ?? "");
}
