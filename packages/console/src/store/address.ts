// The address of what the page shows: every view, room, envelope, gate, server, bridge, tool and filter has one, so that Back,
// reload, a new tab and a shared link work. Pure.

const views = [
  "room",
  "gate",
  "tool",
  "topology",
  "decisions",
  "metrics",
  "audit",
  "rules",
  "approvers",
  "tokens",
  "servers",
  "bridges",
  "devices",
  "backups",
] as const;
export type View = (typeof views)[number];

export interface Address {
  readonly view: View;
  /** The topic of a room, the id of a gate, the name of a tool, server or bridge. */
  readonly name?: string | undefined;
  /** The id of an envelope of the room. */
  readonly envelope?: string | undefined;
  /** What the view leaves out or shows first; each view knows its own keys. */
  readonly query: Readonly<Record<string, string>>;
}

const root = "/console";
const charsMax = 2_000;
const queriesMax = 16;
/** Views with a name in their address, by the word that stands before it. */
const folders: Readonly<Record<string, View>> = {
  rooms: "room",
  gates: "gate",
  tools: "tool",
  servers: "servers",
  bridges: "bridges",
};
const words: Readonly<Partial<Record<View, string>>> = { room: "rooms", gate: "gates", tool: "tools" };

/** `undefined` for an address of nothing here. */
export function readAddress(path: string, search: string): Address | undefined {
  if (path.length + search.length > charsMax) return undefined;
  const query = Object.fromEntries([...new URLSearchParams(search)].slice(0, queriesMax));
  if (path === "/" || path === root) return { view: "room", query };
  if (!path.startsWith(`${root}/`)) return undefined;
  const parts = decodedParts(path.slice(root.length + 1));
  if (parts === undefined || parts.some((part) => part === "")) return undefined;
  const [folder = "", name, word, envelope] = parts;
  if (parts.length === 1) {
    const view = views.find((one) => one === folder);
    return view === undefined || words[view] !== undefined ? undefined : { view, query };
  }
  const view = folders[folder];
  if (view === undefined) return undefined;
  if (parts.length === 2) return { view, name, query };
  const isEnvelope = parts.length === 4 && view === "room" && word === "envelopes";
  return isEnvelope ? { view, name, envelope, query } : undefined;
}

function decodedParts(path: string): string[] | undefined {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

export function addressText({ view, name, envelope, query }: Address): string {
  const parts = [words[view] ?? view, name, ...(envelope === undefined ? [] : ["envelopes", envelope])];
  const path = parts
    .filter((part) => part !== undefined)
    .map(encodeURIComponent)
    .join("/");
  const search = new URLSearchParams(query).toString();
  const isHome = view === "room" && name === undefined;
  return `${isHome ? "/" : `${root}/${path}`}${search === "" ? "" : `?${search}`}`;
}

/** The address with some of its query changed; an empty value leaves its key out. */
export function withQuery(address: Address, change: Readonly<Record<string, string>>): Address {
  const all = Object.entries({ ...address.query, ...change }).filter(([, value]) => value !== "");
  return { ...address, query: Object.fromEntries(all) };
}
