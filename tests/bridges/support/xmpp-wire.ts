// The wire between a bridge and its XMPP server: it can be cut, say a message of the chat again, and answer that there is
// too much. What it says is what servers say (RFC 6120, XEP-0045).
import { type CuttableProxy, startProxy } from "./cuttable-proxy.ts";

export interface XmppWire extends CuttableProxy {
  /** Resolves when a message with these words has come to the bridge: it can be said again from then on. */
  passed(words: string): Promise<() => void>;
  isTooMuch: boolean;
  /** How many messages were refused. */
  refused: number;
}

const spoken = /<message\b[^>]*>(?:(?!<\/message>)[\s\S])*<\/message>/g;

export async function startXmppWire(port: number): Promise<XmppWire> {
  const watched = new Map<string, (again: () => void) => void>();
  const wire = { isTooMuch: false, refused: 0 };
  const proxy = await startProxy(port, {
    toServer(text, back) {
      if (!wire.isTooMuch) return text;
      return text.replace(spoken, (message) => {
        if (!/type=["']groupchat["']/.test(message)) return message;
        wire.refused += 1;
        const [, id = ""] = /\bid=["']([^"']+)["']/.exec(message) ?? [];
        const [, chat = ""] = /\bto=["']([^"']+)["']/.exec(message) ?? [];
        const why = "<resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>";
        back(`<message type='error' id='${id}' from='${chat}'><error type='wait'>${why}</error></message>`);
        return "";
      });
    },
    toClient(text, again) {
      for (const [message] of text.matchAll(spoken)) {
        for (const [words, tell] of watched) {
          if (!message.includes(`<body>${words}</body>`)) continue;
          watched.delete(words);
          tell(() => again(message));
        }
      }
      return text;
    },
  });
  return Object.assign(wire, proxy, {
    passed: (words: string) => new Promise<() => void>((resolve) => watched.set(words, resolve)),
  });
}
