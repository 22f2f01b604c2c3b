// `system` `presence_status`: what a participant wants others to know of its state.
import { McpxError } from "@mcpx/protocol";
import type { HandlerOutcome, Handling } from "../handling/handling.ts";

const textCharsMax = 200;

export function handlePresenceStatus({ member, envelope }: Handling): HandlerOutcome {
  const { status, text } = envelope.payload;
  const isShort = (value: unknown) => typeof value === "string" && value.length <= textCharsMax;
  if (!isShort(status) || status === "") {
    throw new McpxError("bad_system", `payload.status must be 1 to ${textCharsMax} characters`);
  }
  if (text !== undefined && !isShort(text)) {
    throw new McpxError("bad_system", `payload.text must be at most ${textCharsMax} characters`);
  }
  member.participant.status = {
    status: status as string,
    ...(text === undefined ? {} : { text: text as string }),
  };
  return { type: "done", isPresenceNews: true };
}
