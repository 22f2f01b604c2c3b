// What somebody typed into the chat line. Pure.
import type { JsonObject } from "@mcpx/protocol";
import { misuse } from "../../framework/failure.ts";
import { suggestion } from "../../framework/nearest.ts";
import { readJsonObject, splitJsonObject } from "../../framework/read-json-object.ts";

export type Line =
  | { verb: "say"; text: string }
  | { verb: "peers" | "help" | "quit" | "nothing" }
  | { verb: "tools"; peer: string }
  | { verb: "call"; peer: string; tool: string; args: JsonObject }
  | { verb: "propose"; peer: string; tool: string; args: JsonObject; reason: string | undefined }
  | { verb: "pending"; id: string | undefined }
  | { verb: "approve"; id: string; target: string | undefined; changes: JsonObject | undefined }
  | { verb: "reject"; id: string; reason: string }
  | { verb: "withdraw"; id: string; reason: string | undefined };

/** In the order help shows them. */
export const verbs: readonly (readonly [usage: string, about: string])[] = [
  ["/peers", "who is here"],
  ["/tools PEER", "the tools of a peer"],
  ["/call PEER TOOL JSON", 'call it: /call oven heat {"celsius": 220}'],
  ["/propose PEER TOOL JSON REASON", "ask others to call it"],
  ["/pending", "proposals that wait for a decision; with a number, all of one"],
  ["/approve ID JSON", "fulfil it; JSON changes arguments, a peer's name before it says who makes the call"],
  ["/reject ID REASON", "reject it"],
  ["/withdraw ID REASON", "withdraw your own proposal"],
  ["/help", "this"],
  ["/quit", "leave"],
];

export const verbNames: readonly string[] = verbs.map(([usage]) => usage.split(" ")[0] ?? usage);

/** Throws a Failure with the right usage. Text that begins with a slash is said with two of them. */
export function parseLine(text: string): Line {
  const trimmed = text.trim();
  if (trimmed === "") return { verb: "nothing" };
  if (trimmed.startsWith("//")) return { verb: "say", text: trimmed.slice(1) };
  if (!trimmed.startsWith("/")) return { verb: "say", text: text.trimEnd() };
  const { word: name, rest } = nextWord(trimmed);
  switch (name) {
    case "/peers":
    case "/help":
    case "/quit":
      return { verb: name.slice(1) as "peers" | "help" | "quit" };
    case "/tools":
      return { verb: "tools", peer: needed(nextWord(rest).word, name) };
    case "/call":
    case "/propose":
      return parseCall(name, rest);
    case "/pending":
      return { verb: "pending", id: rest === "" ? undefined : rest };
    case "/approve":
      return parseApproval(rest);
    case "/reject": {
      const { word: id, rest: reason } = nextWord(rest);
      return { verb: "reject", id: needed(id, name), reason: needed(reason, name) };
    }
    case "/withdraw": {
      const { word: id, rest: reason } = nextWord(rest);
      return { verb: "withdraw", id: needed(id, name), reason: reason === "" ? undefined : reason };
    }
    default:
      throw misuse(`there is no ${name}`, suggestion(name, verbNames) ?? "see /help; // says a slash");
  }
}

function parseCall(name: "/call" | "/propose", text: string): Line {
  const { word: peer, rest } = nextWord(text);
  const { word: tool, rest: more } = nextWord(rest);
  needed(tool, name);
  if (name === "/call") return { verb: "call", peer, tool, args: readArguments(more) };
  const split = splitJsonObject(more);
  if (split === undefined && more.startsWith("{")) readArguments(more);
  const { value: args, rest: reason } = split ?? { value: {}, rest: more };
  return { verb: "propose", peer, tool, args, reason: reason === "" ? undefined : reason };
}

function parseApproval(text: string): Line {
  const { word: id, rest } = nextWord(text);
  needed(id, "/approve");
  if (rest === "") return { verb: "approve", id, target: undefined, changes: undefined };
  if (rest.startsWith("{")) return { verb: "approve", id, target: undefined, changes: readArguments(rest) };
  const { word: target, rest: json } = nextWord(rest);
  return { verb: "approve", id, target, changes: json === "" ? undefined : readArguments(json) };
}

function readArguments(text: string): JsonObject {
  return text === "" ? {} : readJsonObject(text, "the text");
}

function needed(word: string, name: string): string {
  if (word !== "") return word;
  const usage = verbs.find(([usage]) => usage.split(" ")[0] === name)?.[0] ?? name;
  throw misuse(`${name} has a missing argument`, `write ${usage}`);
}

function nextWord(text: string): { word: string; rest: string } {
  const [word = ""] = text.split(" ", 1);
  return { word, rest: text.slice(word.length).trim() };
}
