// What a caller is told while its call waits at a gate. Nothing has failed, so it is a result; some clients show their
// model the text, others only `structuredContent` or `_meta`, so each says all of it. Pure. [AX-11.3-4]

import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { isId } from "../names.ts";
import type { Capability } from "../tree/capability.ts";
import { type GateTerms, gateIdCharsMax, statementOf } from "./gate.ts";

/** Where the same stands in `_meta`. */
export const confirmationKey = "x-mcpax-confirmation";

/** The call that waits for the decision and brings its result, with the tool's name as the caller knows it. */
export interface WaitAdvice {
  tool: string;
  arguments: unknown;
}

/** A gate as its caller sees it. */
export interface Confirmation extends GateTerms {
  /** Read exactly, so that they are shown as they will be sent. */
  arguments: unknown;
  annotation: Readonly<Capability>;
  approve_url: string;
  /** What the caller calls the tool. */
  shownTool: string;
  /** Absent where the caller has no tool to wait with: making the same call again waits, too. */
  wait?: WaitAdvice | undefined;
  /** What has to be done before anybody can decide. */
  obstacle?: string | undefined;
  /** The gates below at which the same call will stop, where these were told. [AX-11.3-8] */
  below?: readonly GateTerms[] | undefined;
  /** The call was approved and is being made: the caller waits for its result. */
  isUnderWay?: boolean | undefined;
}

export function confirmationRequired(gate: Confirmation): JsonObject {
  const { decision: _, ...terms } = statementOf(gate, "approve");
  const { approve_url, confirmation_id, tool, expires_at, shownTool } = gate;
  const status = "confirmation_required";
  const message = messageOf(gate);
  const wait = gate.wait ?? { tool: shownTool, arguments: gate.arguments };
  const structuredContent = {
    status,
    message,
    ...terms,
    arguments: gate.arguments,
    annotation: gate.annotation,
    approve_url,
    wait,
    ...(gate.below && { below: gate.below }),
  };
  const brief = { status, message, confirmation_id, tool, expires_at, approve_url, wait };
  return {
    content: [{ type: "text", text: message }],
    structuredContent,
    _meta: { [confirmationKey]: brief },
  };
}

/**
 * The same instead of a result whose form its tool promises: official clients take nothing else than that form, or an
 * error.
 */
export function confirmationAsError({ content, structuredContent }: JsonObject): JsonObject {
  return { isError: true, content, _meta: { [confirmationKey]: structuredContent } };
}

/** The pending call a result tells of; `undefined` for every other result. */
export function confirmationOf({ structuredContent, _meta }: JsonObject): JsonObject | undefined {
  const content = isObject(structuredContent) ? structuredContent : isObject(_meta) && _meta[confirmationKey];
  return isObject(content) && content.status === "confirmation_required" ? content : undefined;
}

/** For a model: no word of it comes from the arguments or the result, which may be anybody's. */
function messageOf(gate: Confirmation): string {
  const { shownTool, approve_url, expires_at, obstacle } = gate;
  const until = new Date(expires_at * 1_000).toISOString();
  const address = `Ask your user to open ${approve_url} and decide there before ${until}.`;
  return [
    ...stateLines(gate, address),
    waitLine(gate),
    gate.phase === undefined && gate.isUnderWay !== true
      ? "Making the same call again joins this one and does nothing twice; another call needs its own approval."
      : `Do not call ${shownTool} in another way to get it sooner: making the same call again joins this one.`,
    ...(obstacle === undefined ? [] : [obstacle]),
  ].join("\n");
}

function waitLine({ wait, shownTool }: Confirmation): string {
  const purpose = "To wait for the decision and get the result,";
  if (wait === undefined) return `${purpose} call ${shownTool} again with the same arguments.`;
  const call = `call the tool ${wait.tool} with ${JSON.stringify(wait.arguments)}`;
  return `${purpose} ${call} (your client may show a prefix before its name).`;
}

function stateLines({ shownTool, phase, isUnderWay }: Confirmation, address: string): string[] {
  if (isUnderWay === true) return [underWayText(shownTool)];
  if (phase === undefined) {
    return [
      `Nothing has happened yet: ${shownTool} was not called.`,
      "A human must approve this call first; you cannot.",
      address,
    ];
  }
  return [
    `${shownTool} was called, and has ended. Its result is held back until a human has looked at it; you cannot see it before.`,
    address,
  ];
}

function underWayText(tool: string): string {
  return `${tool} is being called; there is no result yet.`;
}

/** A gated call that is not decided, as shown to a person who has made the call by hand. */
export interface WaitingCall {
  id: string;
  tool: string;
  /** Seconds since 1970. */
  expiresAt: number;
  approveUrl: string;
  /** `held`: the call was made, and its result waits. */
  state: "waiting" | "held" | "under way";
}

/** Later than that is no date. */
const secondsMax = 8_640_000_000_000;

/** `undefined` for every other result. What it says may come from any server, and is worth no more than its text. */
export function readWaitingCall(result: JsonObject): WaitingCall | undefined {
  const found = confirmationOf(result);
  if (found === undefined) return undefined;
  const { confirmation_id: id, tool, expires_at: expiresAt, approve_url: approveUrl } = found;
  if (!isId(id, gateIdCharsMax) || typeof tool !== "string" || typeof approveUrl !== "string")
    return undefined;
  if (typeof expiresAt !== "number" || !(expiresAt > 0 && expiresAt < secondsMax)) return undefined;
  const [first] = Array.isArray(result.content) ? result.content : [];
  const text = isObject(first) ? String(first.text) : "";
  const held = found.phase === "result" ? "held" : "waiting";
  return { id, tool, expiresAt, approveUrl, state: text.startsWith(underWayText(tool)) ? "under way" : held };
}
