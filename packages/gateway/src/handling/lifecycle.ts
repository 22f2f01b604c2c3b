// What withdrawals, rejections and status messages share.
import { type Envelope, type Limits, McpxError } from "@mcpx/protocol";

/** A reason may be missing, but is text where it is given; so is a code. Everybody remembers them. [PL-2-2] */
export function checkReason({ payload }: Envelope, { reasonCharsMax, codeCharsMax }: Limits): void {
  checkText("reason", payload.reason, reasonCharsMax);
  checkText("code", payload.code, codeCharsMax);
}

function checkText(field: string, text: unknown, max: number): void {
  if (text === undefined || (typeof text === "string" && text.length <= max)) return;
  throw new McpxError("bad_lifecycle", `payload.${field} must be a string of at most ${max} characters`);
}
