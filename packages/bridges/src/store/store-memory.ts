// Nothing is kept over a restart: for tests and for bridges that may begin anew.
import {
  type BridgeStore,
  type Card,
  codesMax,
  type KeptMessage,
  type Link,
  type MessagePlace,
  messagesMax,
  type NewCode,
  type Position,
} from "./bridge-store.ts";
import { newId } from "./new-id.ts";

export function createMemoryStore(): BridgeStore {
  const codes = new Map<string, NewCode>();
  const links = new Map<string, Link>();
  const cards = new Map<string, Card>();
  const positions = new Map<string, Position>();
  const heard = new Map<string, string>();
  const messages = new Map<string, KeptMessage & MessagePlace>();
  const isIn = (place: MessagePlace) => (one: MessagePlace) =>
    one.bridge === place.bridge && one.channel === place.channel && one.topic === place.topic;
  const change = (id: string, more: Partial<Card>) => {
    const card = cards.get(id);
    if (card !== undefined) cards.set(id, { ...card, ...more });
  };
  return {
    async addCode(code, now) {
      for (const [hash, { expiresAt }] of codes) if (expiresAt <= now) codes.delete(hash);
      const waiting = [...codes.values()].filter(({ bridge }) => bridge === code.bridge);
      if (waiting.length >= codesMax) return false;
      codes.set(code.hash, code);
      return true;
    },
    async redeem(bridge, hash, user, now) {
      const code = codes.get(hash);
      if (code === undefined || code.bridge !== bridge || code.expiresAt <= now) return undefined;
      codes.delete(hash);
      const { participant, level } = code;
      const link = { id: newId(), bridge, user, participant, level, at: now };
      links.set(keyOf(bridge, user), link);
      return link;
    },
    linkOf: async (bridge, user) => links.get(keyOf(bridge, user)),
    links: async (bridge) => [...links.values()].filter((link) => link.bridge === bridge),
    async unlink(bridge, user) {
      const link = links.get(keyOf(bridge, user));
      links.delete(keyOf(bridge, user));
      return link;
    },
    position: async (bridge, channel) => positions.get(keyOf(bridge, channel)),
    async setPosition(bridge, channel, position) {
      positions.set(keyOf(bridge, channel), position);
    },
    heard: async (bridge, channel) => heard.get(keyOf(bridge, channel)),
    async setHeard(bridge, channel, at) {
      heard.set(keyOf(bridge, channel), at);
    },
    async cardFor(card) {
      const isSame = (one: Card) =>
        one.bridge === card.bridge && one.channel === card.channel && one.proposal === card.proposal;
      const known = [...cards.values()].find(isSame);
      if (known !== undefined) return known;
      const made = { ...card, isClosed: false };
      cards.set(card.id, made);
      return made;
    },
    card: async (id) => cards.get(id),
    openCards: async (bridge, channel) =>
      [...cards.values()].filter(
        (card) => card.bridge === bridge && card.channel === channel && !card.isClosed,
      ),
    setRef: async (id, ref) => change(id, { ref }),
    async claim(id, participant) {
      const card = cards.get(id);
      if (card === undefined || card.isClosed || card.claimedBy !== undefined) return false;
      change(id, { claimedBy: participant });
      return true;
    },
    release: async (id) => change(id, { claimedBy: undefined }),
    closeCard: async (id) => change(id, { isClosed: true }),
    async keepMessage(place, message) {
      const key = JSON.stringify([place.bridge, place.channel, place.topic, message.message]);
      if (!messages.has(key)) messages.set(key, { ...place, ...message });
      const isHere = (one: MessagePlace) => one.bridge === place.bridge && one.channel === place.channel;
      const here = [...messages].filter(([, one]) => isHere(one));
      for (const [old] of here.slice(0, Math.max(0, here.length - messagesMax))) messages.delete(old);
    },
    messageNamed: async (place, message) =>
      bare([...messages.values()].filter(isIn(place)).find((one) => one.message === message)),
    messageOf: async (place, envelope) =>
      bare([...messages.values()].filter(isIn(place)).find((one) => one.envelope === envelope)),
    async forget(before) {
      for (const [id, { expiresAt }] of cards) if (expiresAt < before) cards.delete(id);
      for (const [hash, { expiresAt }] of codes) if (expiresAt < before) codes.delete(hash);
    },
    async removeBridge(bridge) {
      for (const [hash, code] of codes) if (code.bridge === bridge) codes.delete(hash);
      for (const [key, link] of links) if (link.bridge === bridge) links.delete(key);
      for (const [id, card] of cards) if (card.bridge === bridge) cards.delete(id);
      for (const [key, one] of messages) if (one.bridge === bridge) messages.delete(key);
      for (const map of [positions, heard])
        for (const key of map.keys()) if (key.startsWith(keyOf(bridge, ""))) map.delete(key);
    },
  };
}

function bare(kept: KeptMessage | undefined): KeptMessage | undefined {
  return kept && { message: kept.message, ref: kept.ref, envelope: kept.envelope, answers: kept.answers };
}

function keyOf(bridge: string, rest: string): string {
  return `${bridge}\n${rest}`;
}
