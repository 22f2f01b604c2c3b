// One line of the timeline: what an envelope says, in words. Everything in it is a stranger's text. Pure.
import type { RoomEnvelope } from "@mcpx/client";
import { isObject, type JsonObject, maskSecrets, parseKind, readGateNotice } from "@mcpx/protocol";
import { shortJson } from "./short-json.ts";

export interface Summary {
  /** What it is, in a word or two. */
  verb: string;
  tone: "plain" | "good" | "bad" | "odd" | "accent";
  /** The name of a tool, where it is about one. */
  tool?: string | undefined;
  text: string;
}

const textMax = 300;

/** What of a call's arguments is not shown beside what looks like a secret. */
interface Secrets {
  places: readonly string[];
  /** Where there are any, it is not known yet. */
  unlisted: readonly string[];
}

export function summaryOf(envelope: RoomEnvelope, secrets?: Secrets): Summary {
  const { kind, payload } = envelope;
  switch (parseKind(kind)?.kind) {
    case "chat":
      return { verb: "", tone: "plain", text: bounded(payload.text) };
    case "mcp/proposal":
      return { verb: "proposes", tone: "accent", ...callOf(payload, secrets) };
    case "mcpx.reject.proposal":
      return { verb: "rejected", tone: "bad", text: bounded(payload.reason ?? payload.code) };
    case "mcpx.withdraw.proposal":
      return { verb: "withdrew", tone: "odd", text: bounded(payload.reason) };
    case "mcpx.status.proposal":
      return { verb: "says", tone: "plain", text: bounded(payload.status) };
    case "presence":
      return presenceOf(payload);
    case "system":
      return systemOf(payload);
    case "mcp":
      return mcpOf(payload, secrets);
    default:
      return { verb: kind.slice(0, 64), tone: "plain", text: bounded(payload) };
  }
}

function mcpOf(payload: JsonObject, secrets: Secrets | undefined): Summary {
  if (typeof payload.method === "string") {
    return {
      verb: payload.method === "tools/call" ? "called" : "asked",
      tone: "plain",
      ...callOf(payload, secrets),
    };
  }
  if (isObject(payload.error)) return { verb: "failed", tone: "bad", text: bounded(payload.error.message) };
  const { result } = payload;
  const isError = isObject(result) && result.isError === true;
  return { verb: isError ? "failed" : "answered", tone: isError ? "bad" : "good", text: resultText(result) };
}

function callOf(
  { method, params, mcpax }: JsonObject,
  secrets: Secrets | undefined,
): { tool?: string; text: string } {
  if (method !== "tools/call" || !isObject(params))
    return { text: `${bounded(method)} ${bounded(maskSecrets(params))}` };
  const tool = String(params.name).slice(0, 128);
  if (secrets !== undefined && secrets.unlisted.length > 0) return { tool, text: "…" };
  const places = secrets?.places ?? readGateNotice(mcpax)?.secrets;
  return { tool, text: bounded(maskSecrets(params.arguments ?? {}, places)) };
}

function presenceOf({ event, participant, reason }: JsonObject): Summary {
  const who = isObject(participant) ? String(participant.id ?? "") : "";
  const verb = event === "join" ? "joined" : event === "leave" ? "left" : "is here";
  return { verb: `${who} ${verb}`.trim(), tone: "plain", text: reason === undefined ? "" : bounded(reason) };
}

function systemOf(payload: JsonObject): Summary {
  const { event, participant, old, new: now, by } = payload;
  if (event === "privilege_changed") {
    const text = `${bounded(participant)} from ${bounded(old)} to ${bounded(now)}`;
    return { verb: "level changed", tone: "odd", text: `${text}, by ${bounded(by)}` };
  }
  return { verb: bounded(event ?? payload.type), tone: "plain", text: bounded(payload.message) };
}

/** The texts of a tool's result, one after the other. */
function resultText(result: unknown): string {
  if (!isObject(result) || !Array.isArray(result.content)) return bounded(result);
  const texts = result.content.filter(isObject).map((part) => {
    return part.type === "text" ? String(part.text) : `(${String(part.type)})`;
  });
  return bounded(texts.join(" "));
}

function bounded(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : shortJson(value, textMax + 1);
  return text.length <= textMax ? text : `${text.slice(0, textMax)}…`;
}
