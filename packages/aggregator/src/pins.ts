// Tools stay what they were when they were first seen, or wait until the operator has looked at the change.
import { hash } from "node:crypto";
import { isMcpxError, McpxError, withRoot } from "@mcpx/protocol";
import type { Entry } from "./catalogue.ts";
import type { Pin, PinNews, SeenTool } from "./pin-store.ts";
import { pinnedCharsMax, pinnedText } from "./pinned-text.ts";
import type { Server } from "./server.ts";
import type { TreeState } from "./tree-state.ts";

/** A server that invents names does not fill the disk. */
const pinsMax = 20_000;
const charsMax = 64 * 1_048_576;

export interface Checked {
  kept: Entry[];
  quarantined: Entry[];
  /** What cannot be pinned and so cannot be shown, for people. */
  leftOut: string[];
}

/** Pins what is new and holds back what has changed. `entries` are as the server lists them. */
export function checkPins(state: TreeState, server: Server, entries: Entry[]): Checked {
  const { pins } = state;
  if (pins === undefined || server.isUnpinned === true)
    return { kept: entries, quarantined: [], leftOut: [] };
  const { seen, leftOut } = read(entries);
  try {
    const known = pins.pinsOf(server.name);
    const { news, refused } = compare(known, seen);
    leftOut.push(...refused.map(({ tool }) => `${tool}: its server has had too many tools to pin another`));
    if (news.first.length + news.changed.length + news.returned.length > 0) {
      pins.write(server.name, news, state.clock.now());
    }
    for (const tool of news.changed) report(state, server, tool, known.get(tool.tool));
    return { ...sort(entries, seen, known, refused), leftOut };
  } catch (error) {
    if (isMcpxError(error)) throw error;
    state.log.error({ err: error, server: server.name }, "pins could not be read or written");
    // Whether a tool has changed is not known: it is not shown.
    throw new McpxError("storage_failed", "its tools could not be compared with what they were");
  }
}

function read(entries: readonly Entry[]): { seen: Map<string, SeenTool>; leftOut: string[] } {
  const seen = new Map<string, SeenTool>();
  const leftOut: string[] = [];
  for (const { name, canonical, item } of entries) {
    const text = pinnedText(item);
    // No store would give half a character back as it was, and the tool would be new for ever.
    if (!name.isWellFormed()) leftOut.push(`${name.toWellFormed()}: its name is not text`);
    else if (text === undefined) leftOut.push(`${name}: larger than ${pinnedCharsMax} characters`);
    else seen.set(name, { tool: name, canonical, hash: hash("sha256", text), text });
  }
  return { seen, leftOut };
}

/** What a store has to learn. Pure. */
function compare(
  known: ReadonlyMap<string, Pin>,
  seen: ReadonlyMap<string, SeenTool>,
): { news: PinNews; refused: SeenTool[] } {
  const first: SeenTool[] = [];
  const changed: SeenTool[] = [];
  const returned: string[] = [];
  const refused: SeenTool[] = [];
  let chars = [...known.values()].reduce((sum, pin) => sum + pin.chars, 0);
  for (const tool of seen.values()) {
    const pin = known.get(tool.tool);
    const isRoom = known.size + first.length < pinsMax && chars + tool.text.length <= charsMax;
    if (pin === undefined && !isRoom) refused.push(tool);
    else if (pin === undefined) {
      first.push(tool);
      chars += tool.text.length;
    } else if (pin.hash === tool.hash) {
      if (pin.changedHash !== undefined) returned.push(tool.tool);
    } else if (pin.changedHash !== tool.hash) changed.push(tool);
  }
  return { news: { first, changed, returned }, refused };
}

function sort(
  entries: readonly Entry[],
  seen: ReadonlyMap<string, SeenTool>,
  known: ReadonlyMap<string, Pin>,
  refused: readonly SeenTool[],
): Pick<Checked, "kept" | "quarantined"> {
  const without = new Set(refused.map(({ tool }) => tool));
  const shown = entries.filter(({ name }) => seen.has(name) && !without.has(name));
  const isAsPinned = ({ name }: Entry) => {
    const pin = known.get(name);
    return pin === undefined || pin.hash === seen.get(name)?.hash;
  };
  return { kept: shown.filter(isAsPinned), quarantined: shown.filter((entry) => !isAsPinned(entry)) };
}

function report(state: TreeState, server: Server, tool: SeenTool, pin: Pin | undefined): void {
  const { log, audit, rootSegment } = state;
  const fullName = withRoot(rootSegment, tool.canonical);
  const about = { server: server.name, tool: tool.tool, was: pin?.hash ?? null, now: tool.hash };
  log.warn({ ...about, canonical: fullName }, "a tool has changed since it was first seen");
  audit?.record({ action: "tool.quarantine", subject: fullName, detail: about });
}
