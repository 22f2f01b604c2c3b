// A client as others write them: the official SDK's, in the era all hops speak. It calls, and where that fails it comes
// anew.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Target } from "../hop/session.ts";

export interface Caller {
  /** Whether the right answer came in time. */
  call(answerMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Throws where it is not let in within `openMs`. */
export async function openCaller({ url, manner, tool, token }: Target, openMs: number): Promise<Caller> {
  const client = new Client({ name: "recovery", version: "1.0.0" });
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { requestInit: { headers } };
  const transport =
    manner === "sse"
      ? new SSEClientTransport(new URL(url), options)
      : new StreamableHTTPClientTransport(new URL(url), options);
  await client.connect(transport as Transport, { timeout: openMs });
  let count = 0;
  return {
    async call(answerMs) {
      count += 1;
      const text = `text ${count}`;
      try {
        const result = await client.callTool({ name: tool, arguments: { text } }, undefined, {
          timeout: answerMs,
        });
        const [first] = result.content as { text?: string }[];
        return result.isError !== true && first?.text === text;
      } catch {
        // Whatever it is, it is no answer; that is what is counted.
        return false;
      }
    },
    close: () => client.close(),
  };
}
