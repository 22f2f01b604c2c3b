// What a page wants changed in the configuration, read from its request: everything in it is checked. Pure.
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { EntryWish } from "../../config-edit/server-entry.ts";

export type Change =
  | ({ type: "add"; name: string; replace: boolean } & EntryWish)
  | { type: "edit"; name: string; set: Edit }
  | { type: "remove"; name: string }
  | { type: "import"; names: readonly string[]; unannotated: string | undefined }
  | { type: "tool"; server: string; tool: string; set: ToolWish }
  | { type: "rules"; rules: readonly JsonObject[] }
  | { type: "bridge"; name: string; replace: boolean; entry: JsonObject }
  | { type: "unbridge"; name: string };

/** Only what is given changes; variables, headers and all else stay as they are. */
export interface Edit {
  /** A command and its arguments, or one address. */
  words?: readonly string[];
  trusted?: boolean;
  disabled?: boolean;
  /** Everybody signs in to it themselves. */
  perUser?: boolean;
  /** Empty: as for all servers. */
  unannotated?: string;
}

/** Fields that are absent stay unchanged. */
interface ToolWish {
  enabled?: boolean;
  /** Empty: as its server calls it. */
  name?: string;
  /** Sent with every call, whatever the caller says. */
  fixed?: JsonObject;
  /** Arguments that callers set again. */
  freed?: readonly string[];
}

const wordsMax = 1_000;
const charsMax = 10_000;
const namesMax = 1_000;
const rulesMax = 1_000;

const changeTypes = ["add", "edit", "remove", "import", "tool", "rules", "bridge", "unbridge"] as const;

export function readChange(value: unknown): Change {
  const given = isObject(value) ? value : {};
  switch (given.type) {
    case "add":
      return { type: "add", name: text(given, "name"), replace: given.replace === true, ...readWish(given) };
    case "edit":
      return { type: "edit", name: text(given, "name"), set: readEdit(isObject(given.set) ? given.set : {}) };
    case "remove":
      return { type: "remove", name: text(given, "name") };
    case "import":
      return {
        type: "import",
        names: texts(given, "names", namesMax),
        unannotated: optional(given, "unannotated"),
      };
    case "tool": {
      const set = isObject(given.set) ? given.set : {};
      return {
        type: "tool",
        server: text(given, "server"),
        tool: text(given, "tool"),
        set: readToolWish(set),
      };
    }
    case "rules":
      return { type: "rules", rules: objects(given, "rules", rulesMax) };
    case "bridge": {
      const { replace, entry } = given;
      return {
        type: "bridge",
        name: text(given, "name"),
        replace: replace === true,
        entry: isObject(entry) ? entry : {},
      };
    }
    case "unbridge":
      return { type: "unbridge", name: text(given, "name") };
    default:
      throw new McpxError("bad_request", `change.type must be one of ${changeTypes.join(", ")}`);
  }
}

function readEdit(given: JsonObject): Edit {
  const { trusted, disabled, perUser, unannotated } = given;
  return {
    ...(given.words !== undefined && { words: texts(given, "words", wordsMax) }),
    ...(typeof trusted === "boolean" && { trusted }),
    ...(typeof disabled === "boolean" && { disabled }),
    ...(typeof perUser === "boolean" && { perUser }),
    ...(isText(unannotated) && { unannotated }),
  };
}

function readToolWish(given: JsonObject): ToolWish {
  const { enabled, name, fixed } = given;
  return {
    ...(typeof enabled === "boolean" && { enabled }),
    ...(isText(name) && { name }),
    ...(isObject(fixed) && { fixed }),
    ...(given.freed !== undefined && { freed: texts(given, "freed", wordsMax) }),
  };
}

function readWish(given: JsonObject): EntryWish {
  return {
    words: texts(given, "words", wordsMax),
    env: texts(given, "env", wordsMax),
    header: texts(given, "header", wordsMax),
    segment: optional(given, "segment"),
    root: false,
    trusted: given.trusted === true,
    unannotated: optional(given, "unannotated"),
    perUser: given.perUser === true,
  };
}

function text(given: JsonObject, field: string): string {
  const value = given[field];
  if (isText(value) && value !== "") return value;
  throw new McpxError("bad_request", `change.${field} must be a string of at most ${charsMax} characters`);
}

function optional(given: JsonObject, field: string): string | undefined {
  return given[field] === undefined ? undefined : text(given, field);
}

function texts(given: JsonObject, field: string, max: number): string[] {
  const { [field]: value = [] } = given;
  if (Array.isArray(value) && value.length <= max && value.every(isText)) return value;
  throw new McpxError("bad_request", `change.${field} must be a list of at most ${max} strings`);
}

function objects(given: JsonObject, field: string, max: number): JsonObject[] {
  const { [field]: value } = given;
  if (Array.isArray(value) && value.length <= max && value.every(isObject)) return value;
  throw new McpxError("bad_request", `change.${field} must be a list of at most ${max} objects`);
}

/** No program can be started with a zero in its words, and no file is written with half a character. */
function isText(value: unknown): value is string {
  return (
    typeof value === "string" && value.length <= charsMax && !value.includes("\0") && value.isWellFormed()
  );
}
