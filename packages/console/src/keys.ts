// The keyboard: which key means what, where nobody is typing. Pure.
import type { Item } from "./store/deck.ts";

export type Deed =
  | { type: "palette" | "help" }
  | { type: "move"; key: string }
  | { type: "choose"; keys: readonly string[] }
  | { type: "undo" }
  | { type: "approve" | "reject" | "edit"; items: readonly Item[] };

export interface Pressed {
  key: string;
  hasCommand: boolean;
  isTyping: boolean;
}

export interface Situation {
  items: readonly Item[];
  current: string | undefined;
  chosen: ReadonlySet<string>;
  /** Something was decided and is not sent yet. */
  isHeld?: boolean;
}

/** `undefined`: the key is not for us. */
export function deedOf({ key, hasCommand, isTyping }: Pressed, situation: Situation): Deed | undefined {
  const pressed = key.toLowerCase();
  if (hasCommand) return pressed === "k" ? { type: "palette" } : undefined;
  if (isTyping) return undefined;
  if (pressed === "?") return { type: "help" };
  if (pressed === "z") return situation.isHeld === true ? { type: "undo" } : undefined;
  if (key === "X") return { type: "choose", keys: alikeOf(situation) };
  if (pressed === "j" || pressed === "k") return move(situation, pressed === "j" ? 1 : -1);
  return about(pressed, situation);
}

/** Whatever waits of the same tool, asked for by the same. */
export function alikeOf({ items, current }: Pick<Situation, "items" | "current">): string[] {
  const one = items.find(({ key }) => key === current) ?? items[0];
  return items
    .filter(({ isPending, tool, who }) => isPending && tool === one?.tool && who === one.who)
    .map(({ key }) => key);
}

function move({ items, current }: Situation, step: 1 | -1): Deed | undefined {
  const at = items.findIndex(({ key }) => key === current);
  const to = items[Math.min(items.length - 1, Math.max(0, at === -1 ? 0 : at + step))];
  return to && { type: "move", key: to.key };
}

function about(pressed: string, { items, current, chosen }: Situation): Deed | undefined {
  const one = items.find(({ key }) => key === current) ?? items[0];
  if (one === undefined || !one.isPending) return undefined;
  const picked = items.filter(({ key, isPending }) => isPending && chosen.has(key));
  const many = picked.length > 0 ? picked : [one];
  if (pressed === "a") return { type: "approve", items: many };
  if (pressed === "d") return { type: "reject", items: many };
  if (pressed === "x") return { type: "choose", keys: [one.key] };
  if (pressed === "e" && one.kind === "proposal") return { type: "edit", items: [one] };
  return undefined;
}
