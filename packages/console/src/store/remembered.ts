// What this browser remembers for its person: favourites, how far each room was read, whether one key is enough, and
// whether what was decided is sent at once. It is a convenience: what cannot be kept is forgotten with the page.
import { isObject } from "@mcpx/protocol";
import { type Cell, createCell } from "./cell.ts";

const favouritesKey = "mcpx-console-favourites";
const readKey = "mcpx-console-read";
const oneKeyKey = "mcpx-console-one-key";
const atOnceKey = "mcpx-console-at-once";
const favouritesMax = 50;
const roomsMax = 1_000;

/** Addresses, in the order they were chosen. */
export const favourites: Cell<readonly string[]> = createCell(readFavourites());
/** By room: the number of the last envelope that was shown. */
export const readUpTo: Cell<Readonly<Record<string, number>>> = createCell(readNumbers());

/** A call that can be undone is approved by one key, without a question. */
export const isOneKey: Cell<boolean> = createCell(load(oneKeyKey) === true);

export function setOneKey(isOn: boolean): void {
  isOneKey.set(isOn);
  keep(oneKeyKey, isOn);
}

/** What was decided in a dialog is sent without a moment to undo it. */
export const isAtOnce: Cell<boolean> = createCell(load(atOnceKey) === true);

export function setAtOnce(isOn: boolean): void {
  isAtOnce.set(isOn);
  keep(atOnceKey, isOn);
}

// Another page of this browser has changed it.
addEventListener("storage", ({ key }) => {
  if (key === favouritesKey) favourites.set(readFavourites());
  if (key === readKey) readUpTo.set(readNumbers());
  if (key === oneKeyKey) isOneKey.set(load(oneKeyKey) === true);
  if (key === atOnceKey) isAtOnce.set(load(atOnceKey) === true);
});

export function toggleFavourite(address: string): void {
  const others = favourites.get().filter((one) => one !== address);
  const next = others.length < favourites.get().length ? others : [...others, address].slice(-favouritesMax);
  favourites.set(next);
  keep(favouritesKey, next);
}

/** Shown up to here; a room that is new to this browser begins as read. */
export function markRead(rooms: readonly { name: string; seq: number }[]): void {
  const before = readUpTo.get();
  const news = rooms.filter(({ name, seq }) => (before[name] ?? -1) < seq);
  if (news.length === 0) return;
  const all = { ...before, ...Object.fromEntries(news.map(({ name, seq }) => [name, seq])) };
  const next = Object.fromEntries(Object.entries(all).slice(-roomsMax));
  readUpTo.set(next);
  keep(readKey, next);
}

function readFavourites(): string[] {
  const value = load(favouritesKey);
  return Array.isArray(value) ? value.filter((one) => typeof one === "string").slice(0, favouritesMax) : [];
}

function readNumbers(): Record<string, number> {
  const value = load(readKey);
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((one): one is [string, number] => typeof one[1] === "number"));
}

function load(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return undefined;
  }
}

function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A full store forgets a convenience and nothing else.
  }
}
