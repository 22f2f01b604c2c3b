// The one page there is: its store, and what it shows at the moment. To import it is to begin it: what came with the
// login is taken from the gateway, and the seconds are counted.
import { faultText } from "./api.ts";
import { createApp } from "./app.ts";
import { browserPages } from "./browser-pages.ts";
import { createCell } from "./cell.ts";
import type { Item } from "./deck.ts";
import { openKnownKeys } from "./known-keys.ts";
import { takeHalf } from "./take-half.ts";

/** Behind the # of the login's redirect; kept for this origin alone, and worth nothing without the cookie. */
const halfKey = "mcpx-console-half";
const tabKey = "mcpx-console-tab";

/** A page that is loaded again is the same member of its rooms. */
function tabName(): string {
  const known = sessionStorage.getItem(tabKey);
  if (known !== null && /^[a-z0-9]{1,8}$/.test(known)) return known;
  return renameTab();
}

/** A page that was opened as a copy of another has its name, and is told so when it joins. */
function renameTab(): string {
  const made = crypto.randomUUID().slice(0, 4);
  sessionStorage.setItem(tabKey, made);
  return made;
}

/** Somebody has logged in: the page begins anew. */
export function comeIn(half: string): void {
  localStorage.setItem(halfKey, half);
  location.reload();
}

/** Pages that are hidden, or become so, are not drawn, and go on all the same. */
const undrawnMs = 250;

export function later(work: () => void, waitMs: number): void {
  const drawn = () => {
    let frame = 0;
    const late = setTimeout(() => {
      cancelAnimationFrame(frame);
      work();
    }, undrawnMs);
    frame = requestAnimationFrame(() => {
      clearTimeout(late);
      work();
    });
  };
  if (waitMs === 0) drawn();
  else setTimeout(drawn, waitMs);
}

/** The link that has led here lets nobody in any more. */
export const isLinkUsed = location.hash === "#used";
if (isLinkUsed) history.replaceState(undefined, "", "/");

await takeHalf({
  hash: location.hash,
  known: () => localStorage.getItem(halfKey),
  keep: (half) => localStorage.setItem(halfKey, half),
  clear: () => history.replaceState(undefined, "", "/"),
  fetch: (...args) => fetch(...args),
});

export const app = createApp({
  origin: location.origin,
  half: () => localStorage.getItem(halfKey) ?? "",
  tab: tabName,
  renameTab,
  fetch: (...args) => fetch(...args),
  later,
  isHidden: () => document.hidden,
  pages: browserPages(),
  knownKeys: openKnownKeys,
});

export type View = "room" | "topology" | "decisions" | "figures" | "audit" | "rules" | "tokens" | "servers";

export const view = createCell<View>("room");
export const topic = createCell<string | undefined>(undefined);
/** How a room is looked at. */
export const roomPicture = createCell<"timeline" | "sequence">("timeline");
/** The card that keys are about. */
export const current = createCell<string | undefined>(undefined);
export const chosen = createCell<ReadonlySet<string>>(new Set());

export type Question =
  | { type: "approve" | "reject" | "edit" | "grant"; items: readonly Item[] }
  | { type: "call"; where: string | undefined; tool: Record<string, unknown> }
  | { type: "level"; topic: string; participant: string; from: string; to: string }
  | { type: "capability"; capability: Record<string, unknown> }
  | { type: "passkey"; passkey: Record<string, unknown> }
  | { type: "server"; what: "add" | "import" | "remove"; name?: string }
  | { type: "palette" | "help" };

/** What is asked in a dialog at the moment. */
export const question = createCell<Question | undefined>(undefined);

/** One line for everybody: what has just happened. */
export const notice = createCell<{ text: string; isFault: boolean } | undefined>(undefined);

export function tell(text: string, isFault = false): void {
  notice.set({ text, isFault });
}

/** What comes of it is seen by itself; only a fault has to be told. */
export function attempt(work: Promise<void>): void {
  work.catch((error: unknown) => tell(faultText(error), true));
}

/** By the second, for countdowns. */
export const seconds = createCell(Date.now());
setInterval(() => seconds.set(Date.now()), 1_000);

export function go(to: View): void {
  view.set(to);
}

export function goToRoom(name: string): void {
  app.open(name);
  topic.set(name);
  view.set("room");
}
