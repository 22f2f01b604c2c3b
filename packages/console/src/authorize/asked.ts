// What the gateway says of a client that asks, as the page uses it.
import { isObject, type JsonObject, type Level, levels } from "@mcpx/protocol";

export interface AskedFacts {
  /** In its own words. */
  name: string;
  /** Of the site that describes it, where one does. */
  host: string | undefined;
  redirect: { kind: string; host: string };
  resource: string;
  place: { kind: string; name: string };
  profiles: { name: string; tools: string[] }[];
  user: string;
  mayAllow: boolean;
  proposed: Choice;
}

export interface Choice {
  participant: string;
  tools: string[];
  topics: string[];
  level: Level;
  ttlMs: number;
}

export function readAsked(answer: JsonObject): AskedFacts {
  const client = objectOf(answer.client);
  const redirect = objectOf(answer.redirect);
  const place = objectOf(answer.place);
  const proposed = objectOf(answer.proposed);
  return {
    name: String(client.name),
    host: typeof client.host === "string" ? client.host : undefined,
    redirect: { kind: String(redirect.kind), host: String(redirect.host) },
    resource: String(answer.resource),
    place: { kind: String(place.kind), name: String(place.name ?? "") },
    profiles: listOf(answer.profiles)
      .filter(isObject)
      .map(({ name, tools }) => ({ name: String(name), tools: textsOf(tools) })),
    user: String(answer.user),
    mayAllow: answer.mayAllow === true,
    proposed: {
      participant: String(proposed.participant),
      tools: textsOf(proposed.tools),
      topics: textsOf(proposed.topics),
      level: levels.find((one) => one === proposed.level) ?? "restricted",
      ttlMs: Number(proposed.ttlMs),
    },
  };
}

/** Who gets the answer, in words. */
export function backText({ redirect: { kind, host } }: AskedFacts): string {
  if (kind === "site") return `the site ${host}`;
  if (kind === "program") return `a program on this computer, at ${host}`;
  return `the program that opens ${host} addresses on this computer`;
}

/** Which line of the list of choices these tools are. */
export function toolsChoice(tools: readonly string[], profiles: AskedFacts["profiles"]): string {
  if (tools.length === 0) return "none";
  const text = tools.join(" ");
  if (text === "**") return "all";
  const profile = profiles.find((one) => one.tools.join(" ") === text);
  return profile === undefined ? "some" : `profile ${profile.name}`;
}

export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): string[] {
  return listOf(value).map(String);
}
