// One envelope as one readable line: time, from → to, what it is, and the gist. Everything in it may come from
// strangers. Pure.
import { isObject, type JsonObject, parseKind, v0ChatMethod } from "@mcpx/protocol";
import type { Output } from "../framework/output.ts";
import { cut, visible } from "../framework/visible.ts";

export interface EnvelopeParts {
  from: string;
  to: readonly string[];
  kind: string;
  gist: string;
}

const gatewayId = "system:gateway";
const gistCharsMax = 500;
const toShownMax = 3;

/** `now` decides whether the date is worth showing. */
export function envelopeLine(envelope: JsonObject, { paint }: Pick<Output, "paint">, now: Date): string {
  const { from, to, kind, gist } = envelopeParts(envelope);
  const time = timeText(envelope.at ?? envelope.ts, now);
  const text = cut(gist, gistCharsMax);
  if (from === gatewayId && kind !== "error") return paint("dim", `${time}  ${kind}  ${text}`.trimEnd());
  const people = to.length === 0 ? from : `${from} → ${addressees(to)}`;
  const style = kind === "error" ? "red" : kind === "proposal" ? "yellow" : "dim";
  return [paint("dim", time), paint("cyan", people), paint(style, kind), text].join("  ").trimEnd();
}

export function envelopeParts(envelope: JsonObject): EnvelopeParts {
  const payload = isObject(envelope.payload) ? envelope.payload : {};
  const to = Array.isArray(envelope.to) ? envelope.to.map(word) : [];
  return { from: word(envelope.from), to, ...contentOf(word(envelope.kind), payload) };
}

function contentOf(written: string, payload: JsonObject): { kind: string; gist: string } {
  const { reason, text } = payload;
  switch (parseKind(written)?.kind) {
    case "chat":
      return { kind: "chat", gist: word(text) };
    case "mcp":
      return messageContent(payload);
    case "mcp/proposal":
      return { kind: "proposal", gist: withReason(callText(payload), reason) };
    case "mcpx.withdraw.proposal":
      return { kind: "withdraw", gist: withReason("", reason) };
    case "mcpx.reject.proposal":
      return { kind: "reject", gist: withReason("", reason ?? "no reason") };
    case "mcpx.status.proposal":
      return { kind: "status", gist: withReason(word(payload.status), reason) };
    case "presence":
      return { kind: "presence", gist: presenceText(payload) };
    case "system":
      return { kind: payload.event === "error" ? "error" : "system", gist: systemText(payload) };
    default:
      return { kind: written, gist: "" };
  }
}

function messageContent(payload: JsonObject): { kind: string; gist: string } {
  if (isObject(payload.error)) {
    const { code, message } = payload.error;
    return { kind: "error", gist: `${word(code)} ${word(message)}` };
  }
  if (payload.method === v0ChatMethod && isObject(payload.params)) {
    return { kind: "chat", gist: word(payload.params.text) };
  }
  if (typeof payload.method !== "string") return { kind: "result", gist: "" };
  return { kind: Object.hasOwn(payload, "id") ? "request" : "notice", gist: callText(payload) };
}

/** `tools/call deploy`: the method, and the name of what it is about where it has one. */
function callText({ method, params }: JsonObject): string {
  const named = isObject(params) ? (params.name ?? params.uri) : undefined;
  return named === undefined ? word(method) : `${word(method)} ${word(named)}`;
}

function presenceText({ event, participant, reason }: JsonObject): string {
  if (!isObject(participant)) return word(event);
  const about = [participant.kind, participant.privilege].filter((part) => part !== undefined).map(word);
  const said = { join: "joined", leave: "left" }[String(event)] ?? word(event);
  const more = event === "leave" ? (reason === "left" ? "" : word(reason)) : about.join(", ");
  return `${word(participant.id)} ${said}${more === "" ? "" : ` (${more})`}`;
}

function systemText(payload: JsonObject): string {
  if (payload.event === "privilege_changed") {
    return `${word(payload.participant)} is now ${word(payload.new)}, by ${word(payload.by)}`;
  }
  const name = word(payload.event ?? payload.type);
  return typeof payload.message === "string" ? `${name}: ${word(payload.message)}` : name;
}

function withReason(text: string, reason: unknown): string {
  if (typeof reason !== "string") return text;
  return text === "" ? word(reason) : `${text}: ${word(reason)}`;
}

/** A few of them by name. */
export function addressees(to: readonly string[]): string {
  const shown = to.slice(0, toShownMax).join(", ");
  return to.length > toShownMax ? `${shown} and ${to.length - toShownMax} more` : shown;
}

/** A value of a stranger as harmless text. */
function word(value: unknown): string {
  if (value === undefined || value === null) return "";
  return visible(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

/** `now` decides whether the date is worth showing. */
export function timeText(at: unknown, now: Date): string {
  const date = new Date(typeof at === "string" ? at : Number.NaN);
  if (Number.isNaN(date.getTime())) return "--:--:--";
  const time = date.toTimeString().slice(0, 8);
  if (date.toDateString() === now.toDateString()) return time;
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return `${day.map((part) => String(part).padStart(2, "0")).join("-")} ${time}`;
}
