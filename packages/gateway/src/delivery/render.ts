// How a logged envelope looks to one connection: with or without `seq`, chat in its protocol's form.
import {
  type DerivedChat,
  defaultLimits,
  deriveChat,
  type Protocol,
  readEnvelope,
  scan,
  withFields,
} from "@mcpx/protocol";
import type { Entry } from "../topic-log/topic-log.ts";
import { isoTime } from "./system-envelope.ts";

export interface Variant {
  protocol: Protocol;
  wantsSeq: boolean;
}

/** The text a connection of this variant gets. */
export function renderEntry(entry: Entry, { protocol, wantsSeq }: Variant): string {
  const text = mayNeedRendering(entry, protocol) ? chatFor(entry, protocol) : entry.text;
  return wantsSeq ? withSeq(text, entry) : text;
}

/** [X0-4-8] */
export function withSeq(text: string, { seq, at }: Pick<Entry, "seq" | "at">): string {
  return withFields(text, [`"seq":${seq},"at":"${isoTime(at)}"`]);
}

/**
 * Whether this may be chat in the other protocol's form. Cheap, and never wrong to say yes: what is looked at closer
 * is decided by reading the envelope. Escapes may spell anything.
 */
function mayNeedRendering({ text }: Entry, protocol: Protocol): boolean {
  const sign = protocol === "mcp-x/v0" ? "chat" : "mcp-x/v0";
  return text.includes(sign) || text.includes("\\");
}

/** The log keeps the original; only the other protocol's members get it rendered anew. [X0-8.1-2] */
function chatFor({ text }: Entry, protocol: Protocol): string {
  let derived: DerivedChat | undefined;
  try {
    derived = deriveChat(readEnvelope(scan(text, storedLimits), storedLimits), text);
  } catch {
    // Whatever it is, it is in the log for good: one entry must not stop the delivery of all others.
    return text;
  }
  return derived?.audience === protocol ? derived.text : text;
}

/** What is in the log was checked on its way in, perhaps against other limits than today's. */
const storedLimits = { ...defaultLimits, depthMax: 10_000, toMax: 10_000, idCharsMax: 10_000 };
