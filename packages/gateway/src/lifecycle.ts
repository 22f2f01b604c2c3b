// What withdrawals, rejections and status messages share.
import { type Envelope, McpxError } from "@mcpx/protocol";

/** A reason may be missing, but is text where it is given. [PL-2-2] */
export function checkReason({ payload }: Envelope): void {
  if (payload.reason !== undefined && typeof payload.reason !== "string") {
    throw new McpxError("bad_lifecycle", "payload.reason must be a string");
  }
}
