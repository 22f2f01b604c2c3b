// What each tool was when it was first seen, and what it has become since, until somebody accepts it. Siblings on SQLite
// and on PostgreSQL.

/** A tool as its server lists it now. */
export interface SeenTool {
  /** The tool's name at its server. */
  tool: string;
  canonical: string;
  /** SHA-256 of the text. */
  hash: string;
  text: string;
}

export interface Pin {
  hash: string;
  /** Of what it has become; `undefined` while it is what it was. */
  changedHash: string | undefined;
  /** What it takes in the store. */
  chars: number;
}

export interface PinNews {
  first: readonly SeenTool[];
  changed: readonly SeenTool[];
  /** Tools that are again what they were. */
  returned: readonly string[];
  /** Tools that are what they were, in another form of text. */
  renewed: readonly SeenTool[];
}

/** A tool that waits to be accepted. */
export interface ChangedTool {
  server: string;
  tool: string;
  /** As it was called in the tree when the change was seen. */
  canonical: string;
  /** Hash of the changed definition. */
  hash: string;
  /** Ms since 1970. */
  since: number;
}

/** A changed tool with both definitions, the pinned and the new one. */
export interface ToolChange extends ChangedTool {
  was: string;
  now: string;
}

export interface PinStore {
  pinsOf(server: string): Promise<Map<string, Pin>>;
  /** All of it or nothing. What is pinned already stays as it is. No tool is twice in one of the lists. */
  write(server: string, news: PinNews, at: number, payer?: string): Promise<void>;
  /** What is kept of all servers that this principal has registered, and of all that anybody has. */
  charsOf(payer: string): Promise<{ ofPayer: number; ofAll: number }>;
  /** In the order of their canonical names, a thousand at most. */
  changed(): Promise<ChangedTool[]>;
  change(server: string, tool: string): Promise<ToolChange | undefined>;
  /** The change becomes the pin, if it is still the one that was looked at. */
  accept(server: string, tool: string, hash: string): Promise<boolean>;
  /** Whatever comes under this server's name is first seen again; says how many tools were forgotten. */
  forget(server: string): Promise<number>;
}

export const changedMax = 1_000;
