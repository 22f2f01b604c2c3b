// Tools stay what they were when they were first seen, or wait until the operator has looked at the change. A new tool
// whose definition says something that no person sees waits, too.
import { hash } from "node:crypto";
import { isDefinitionSmuggling, isMcpxError, type JsonObject, McpxError, withRoot } from "@mcpx/protocol";
import type { ScannedTools } from "../scanners/scan-definitions.ts";
import type { Server } from "../servers/server.ts";
import { payerOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import type { Entry } from "./catalogue.ts";
import type { Pin, PinNews, PinStore, SeenTool } from "./pin-store.ts";
import { firstPinnedText, pinnedCharsMax, pinnedText } from "./pinned-text.ts";

/** A server that invents names does not fill the disk. */
const pinsMax = 20_000;

export interface Checked {
  kept: Entry[];
  quarantined: Entry[];
  /** What cannot be pinned and so cannot be shown, for people. */
  leftOut: string[];
}

/** Others may write at the same time: the same list of the same server, seen by somebody else. */
const passesMax = 8;

/** What scanners say of new tools. */
type Scanned = Pick<ScannedTools, "suspected" | "unjudged">;

/** Pins what is new and holds back what has changed. `entries` are as the server lists them. */
export async function checkPins(
  state: TreeState,
  server: Server,
  entries: Entry[],
  scanned: Scanned,
): Promise<Checked> {
  const { pins } = state;
  if (pins === undefined || server.isUnpinned === true) return withoutSuspects(entries, scanned);
  try {
    for (let pass = 0; pass < passesMax; pass += 1) {
      const known = await pins.pinsOf(server.name);
      const { seen, leftOut } = read(entries, known, scanned);
      const charsMax = hasNews(known, seen) ? await charsLeft(state, pins, server, known) : 0;
      const { news, refused } = compare(known, seen, charsMax);
      leftOut.push(...refused.map(({ tool }) => `${tool}: its server has had too many tools to pin another`));
      if (isEmpty(news)) return { ...sort(entries, seen, known, refused), leftOut };
      // What counts is what the store has then, whichever process wrote it.
      await pins.write(server.name, news, state.clock.now(), payerOf(server));
      for (const tool of news.changed) report(state, server, tool, known.get(tool.tool));
    }
    throw new Error("other writers kept changing its pins");
  } catch (error) {
    if (isMcpxError(error)) throw error;
    state.log.error({ err: error, server: server.name }, "could not read or write pins");
    // Whether a tool has changed is not known: it is not shown.
    throw new McpxError("storage_failed", "its tools could not be compared with their pins");
  }
}

const unjudgedWords = "its scanner has not judged it";

/** Without pins nobody can accept one of these. */
function withoutSuspects(entries: readonly Entry[], { suspected, unjudged }: Scanned): Checked {
  const isOut = ({ name }: Entry) => suspected.has(name) || unjudged.has(name);
  const words = (name: string) => (unjudged.has(name) ? unjudgedWords : "its scanner holds it back");
  return {
    kept: entries.filter((entry) => !isOut(entry)),
    quarantined: [],
    leftOut: entries.filter(isOut).map(({ name }) => `${name}: ${words(name)}`),
  };
}

function isEmpty(news: PinNews): boolean {
  return Object.values(news).every(({ length }) => length === 0);
}

/** A pin of which this is the beginning is of the whole definition; others are of what was pinned at first. */
const wholeMark = "2:";
/** What a tool is compared with that hides text from the first time it is seen. */
const nothing = "{}";

/** A tool as it is compared with its pin, and as it is pinned from now on. */
interface Read {
  seen: SeenTool;
  /** COMPAT: where the pin is of the first form. It becomes one of the whole definition when it is found unchanged. */
  renewed?: SeenTool;
  isSmuggling: boolean;
}

function read(
  entries: readonly Entry[],
  known: ReadonlyMap<string, Pin>,
  { suspected, unjudged }: Scanned,
): { seen: Map<string, Read>; leftOut: string[] } {
  const seen = new Map<string, Read>();
  const leftOut: string[] = [];
  for (const { name, canonical, item } of entries) {
    const whole = wholeOf(item, name, canonical);
    const pin = known.get(name);
    const first = pin === undefined || pin.hash.startsWith(wholeMark) ? undefined : firstPinnedText(item);
    // No store would give half a character back as it was, and the tool would be new for ever.
    if (!name.isWellFormed()) leftOut.push(`${name.toWellFormed()}: its name is not valid Unicode`);
    else if (whole === undefined) leftOut.push(`${name}: larger than ${pinnedCharsMax} characters`);
    else if (first !== undefined) {
      const old = { tool: name, canonical, hash: hash("sha256", first), text: first };
      seen.set(name, { seen: old, renewed: whole, isSmuggling: false });
    } else if (pin === undefined && unjudged.has(name)) leftOut.push(`${name}: ${unjudgedWords}`);
    else {
      const isOdd = isDefinitionSmuggling(item) || suspected.has(name);
      seen.set(name, { seen: whole, isSmuggling: pin === undefined && isOdd });
    }
  }
  return { seen, leftOut };
}

function wholeOf(item: JsonObject, tool: string, canonical: string): SeenTool | undefined {
  const text = pinnedText(item);
  return text === undefined ? undefined : { tool, canonical, hash: wholeMark + hash("sha256", text), text };
}

/** The pin of a tool that nobody has seen whole: everything in its definition is a change that waits to be accepted. */
function unseen(tool: SeenTool): SeenTool {
  return { ...tool, hash: wholeMark + hash("sha256", nothing), text: nothing };
}

/** Most lists bring nothing new. */
function hasNews(known: ReadonlyMap<string, Pin>, seen: ReadonlyMap<string, Read>): boolean {
  return [...seen.values()].some(({ seen: tool }) => known.get(tool.tool)?.hash !== tool.hash);
}

/** How many characters more: of its own, and where it registered, of what its principal and all others may have. */
async function charsLeft(
  { pinRoom }: TreeState,
  pins: PinStore,
  server: Server,
  known: ReadonlyMap<string, Pin>,
): Promise<number> {
  const { perServerMax, perPrincipalMax, max } = pinRoom;
  const own = perServerMax - [...known.values()].reduce((sum, pin) => sum + pin.chars, 0);
  const payer = payerOf(server);
  if (payer === undefined) return own;
  const { ofPayer, ofAll } = await pins.charsOf(payer);
  return Math.min(own, perPrincipalMax - ofPayer, max - ofAll);
}

/** The pins that a store has to write. A changed tool is held back even where its pin has no space left. Pure. */
function compare(
  known: ReadonlyMap<string, Pin>,
  seen: ReadonlyMap<string, Read>,
  charsMax: number,
): { news: PinNews; refused: SeenTool[] } {
  const renewed: SeenTool[] = [];
  const first: SeenTool[] = [];
  const changed: SeenTool[] = [];
  const returned: string[] = [];
  const refused: SeenTool[] = [];
  let chars = 0;
  const fits = ({ text }: SeenTool) => chars + text.length <= charsMax;
  for (const { seen: tool, renewed: whole, isSmuggling } of seen.values()) {
    const pin = known.get(tool.tool);
    if (pin === undefined) {
      if (known.size + first.length >= pinsMax || !fits(tool)) {
        refused.push(tool);
        continue;
      }
      first.push(isSmuggling ? unseen(tool) : tool);
      if (isSmuggling) changed.push(tool);
      chars += tool.text.length;
    } else if (pin.hash === tool.hash) {
      if (pin.changedHash !== undefined) returned.push(tool.tool);
      if (whole !== undefined) renewed.push(whole);
    } else if (pin.changedHash !== tool.hash) {
      if (!fits(tool)) continue;
      changed.push(tool);
      chars += tool.text.length;
    }
  }
  return { news: { first, changed, returned, renewed }, refused };
}

function sort(
  entries: readonly Entry[],
  seen: ReadonlyMap<string, Read>,
  known: ReadonlyMap<string, Pin>,
  refused: readonly SeenTool[],
): Pick<Checked, "kept" | "quarantined"> {
  const without = new Set(refused.map(({ tool }) => tool));
  const shown = entries.filter(({ name }) => seen.has(name) && !without.has(name));
  const isAsPinned = ({ name }: Entry) => {
    const pin = known.get(name);
    const now = seen.get(name);
    return pin === undefined ? now?.isSmuggling !== true : pin.hash === now?.seen.hash;
  };
  return { kept: shown.filter(isAsPinned), quarantined: shown.filter((entry) => !isAsPinned(entry)) };
}

function report(state: TreeState, server: Server, tool: SeenTool, pin: Pin | undefined): void {
  const { log, audit, rootSegment } = state;
  const fullName = withRoot(rootSegment, tool.canonical);
  const about = { server: server.name, tool: tool.tool, was: pin?.hash ?? null, now: tool.hash };
  const what =
    pin === undefined
      ? "a new tool hides text, or a scanner suspects it"
      : "a tool has changed since it was first seen";
  log.warn({ ...about, canonical: fullName }, what);
  audit?.record({ action: "tool.quarantine", subject: fullName, detail: about });
}
