// The one page there is: its store, and what it shows at the moment. To import it is to begin it: what came with the
// login is taken from the gateway, and the seconds are counted.
import { type Address, addressText, readAddress, type View, withQuery } from "./address.ts";
import { faultText } from "./api.ts";
import { createApp } from "./app.ts";
import { browserPages } from "./browser-pages.ts";
import { type Cell, createCell } from "./cell.ts";
import type { Item } from "./deck.ts";
import { openKnownKeys } from "./known-keys.ts";
import { keepLoginSecret, knownLoginSecret } from "./login-secret.ts";
import { takeLoginSecret } from "./take-login-secret.ts";

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
  keepLoginSecret(half);
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

/** Where somebody wanted to go who was not logged in: the link that lets them in leads back there. */
const askedKey = "mcpx-console-asked";
const askedMs = 600_000;

/**
 * Nobody is logged in: a person who logs in by a link, in another tab too, comes to the page that was asked for here. A
 * page that was logged in before comes along by itself.
 */
export function rememberAsked(): void {
  const { pathname, search } = location;
  if (pathname === "/" || wasIn) return;
  localStorage.setItem(askedKey, `${Date.now()} ${pathname} ${search}`);
}

function askedBefore(): string {
  const [at = "", path = "/", search = ""] = (localStorage.getItem(askedKey) ?? "").split(" ");
  localStorage.removeItem(askedKey);
  const asked = Date.now() - Number(at) < askedMs ? readAddress(path, search) : undefined;
  return asked === undefined ? "/" : addressText(asked);
}

/** The link that has led here lets nobody in any more. */
export const isLinkUsed = location.hash === "#used";
if (isLinkUsed) history.replaceState(undefined, "", location.pathname);

await takeLoginSecret({
  hash: location.hash,
  known: knownLoginSecret,
  keep: keepLoginSecret,
  clear: (isTaken) => {
    const isHome = location.pathname === "/";
    const here = location.pathname + location.search;
    history.replaceState(undefined, "", isTaken && isHome ? askedBefore() : here);
  },
  fetch: (...args) => fetch(...args),
});

export const app = createApp({
  origin: location.origin,
  half: () => knownLoginSecret() ?? "",
  tab: tabName,
  renameTab,
  fetch: (...args) => fetch(...args),
  later,
  isHidden: () => document.hidden,
  pages: browserPages(),
  knownKeys: openKnownKeys,
});

/** The card that keys are about. */
export const current = createCell<string | undefined>(undefined);

let wasIn = false;
app.session.subscribe((session) => {
  wasIn ||= Boolean(session);
});

/** An address of nothing is the first room's. */
const addressNow = (): Address =>
  readAddress(location.pathname, location.search) ?? { view: "room", query: {} };

export const address = createCell<Address>(addressNow());
export const view = createCell<View>(address.get().view);
address.subscribe((now) => {
  // Beside another view what waits takes one line each, until somebody opens it there.
  if (now.view !== view.get() && now.view !== "room" && now.view !== "gate") current.set(undefined);
  view.set(now.view);
});
/** The room that is looked at, or was last. */
export const topic = createCell<string | undefined>(undefined);
addEventListener("popstate", () => {
  question.set(undefined);
  address.set(addressNow());
});
export const chosen = createCell<ReadonlySet<string>>(new Set());
/** Somebody wants to see what was decided. */
export const isDoneOpen = createCell(false);

interface Held {
  /** "Approving". */
  doing: string;
  undo(): void;
  sendNow(): void;
}

/** Decided, and not sent yet: by card, how to take it back. */
export const held = createCell<ReadonlyMap<string, Held>>(new Map());
/** Leaving the page decides. */
export function sendHeld(): void {
  for (const { sendNow } of held.get().values()) sendNow();
}
addEventListener("pagehide", sendHeld);

/** The card that was decided last: shown while nothing else waits. */
export const lastDecided = createCell<string | undefined>(undefined);

/** Decided here, and still waiting as far as the gateway has told. */
const onTheirWay = new Set<string>();

/** The cards of these were decided: keys are about the next that waits. */
export function goOn(decided: readonly string[]): void {
  const { waiting } = app.deck.get();
  const at = waiting.findIndex(({ key }) => key === decided.at(-1));
  for (const key of onTheirWay) if (!waiting.some((item) => item.key === key)) onTheirWay.delete(key);
  for (const key of decided) onTheirWay.add(key);
  const isLeft = ({ key }: Item) => !onTheirWay.has(key) && !held.get().has(key);
  const next = waiting.slice(at + 1).find(isLeft) ?? waiting.find(isLeft);
  current.set(next?.key);
  lastDecided.set(decided.at(-1));
}

/** It could not be decided: it waits as before. */
export function comeBack(key: string): void {
  onTheirWay.delete(key);
}

export type Question =
  | { type: "approve" | "reject" | "edit" | "grant"; items: readonly Item[] }
  | { type: "call"; where: string | undefined; tool: Record<string, unknown> }
  | { type: "level"; topic: string; participant: string; from: string; to: string }
  | { type: "capability"; capability: Record<string, unknown> }
  | { type: "passkey"; passkey: Record<string, unknown> }
  | { type: "server"; what: "add" | "edit" | "import" | "remove"; name?: string }
  | { type: "bridge"; what: "add" | "link" | "unlink" | "remove"; name?: string; user?: string }
  | { type: "palette" | "help" | "allow" };

/** What is asked in a dialog at the moment. */
export const question: Cell<Question | undefined> = createCell<Question | undefined>(undefined);

/** One line for everybody: what has just happened. */
export const notice = createCell<{ text: string; isFault: boolean } | undefined>(undefined);

/** Read by then; a fault takes longer. */
const noticeMs = { plain: 6_000, fault: 15_000 };
let leaving: ReturnType<typeof setTimeout> | undefined;

export function tell(text: string, isFault = false): void {
  notice.set({ text, isFault });
  clearTimeout(leaving);
  leaving = setTimeout(() => notice.set(undefined), isFault ? noticeMs.fault : noticeMs.plain);
}

/** The page shows the result by itself; only a fault has to be told. */
export function attempt(work: Promise<void>): void {
  work.catch((error: unknown) => tell(faultText(error), true));
}

/** By the second, for countdowns. */
export const seconds = createCell(Date.now());
setInterval(() => seconds.set(Date.now()), 1_000);

/** To another view: Back leads here again. */
export function go(to: Address): void {
  const text = addressText(to);
  if (text !== location.pathname + location.search) history.pushState(undefined, "", text);
  address.set(to);
}

/** The same view, looked at otherwise: nothing that Back would lead to. */
export function replaceQuery(change: Readonly<Record<string, string>>): void {
  const to = withQuery(address.get(), change);
  history.replaceState(undefined, "", addressText(to));
  address.set(to);
}

/** Beside the lines of its room; Back closes it. */
export function showEnvelope(envelope: string | undefined): void {
  const before = address.get();
  const to = { ...before, envelope };
  if (before.envelope !== undefined) history.replaceState(undefined, "", addressText(to));
  go(to);
}

export function roomAddress(name: string, envelope?: string): Address {
  return { view: "room", name, envelope, query: {} };
}

/** A link of the page itself is followed without loading it anew, unless somebody wants it elsewhere. */
export function followLink(event: MouseEvent): void {
  const isElsewhere = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  const link = (event.target as Element | null)?.closest?.("a[href]");
  if (isElsewhere || event.defaultPrevented || !(link instanceof HTMLAnchorElement)) return;
  const to = link.origin === location.origin ? readAddress(link.pathname, link.search) : undefined;
  if (to === undefined || link.target !== "" || link.download !== "") return;
  event.preventDefault();
  go(to);
}
