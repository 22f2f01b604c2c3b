// What is wrong with a proof; the gate goes on waiting.
import { McpxError } from "@mcpx/protocol";

export function badProof(detail: string): McpxError {
  return new McpxError("bad_proof", detail);
}
