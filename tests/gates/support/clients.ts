// Unmodified clients behind one endpoint: the official SDKs, the inspector's command line, and the client of an agent
// framework, which is an implementation of its own.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createMCPClient } from "@ai-sdk/mcp";
import { canonicalUrl } from "../../support/canonical-url.ts";
import { connectSdk, kinds } from "../../tree/support/sdk-callers.ts";

export const clients = [...kinds, "inspector", "framework"] as const;
export type ClientKind = (typeof clients)[number];

export interface Client {
  /** All that was answered, as a text. Rejects where the client gives up. */
  call(tool: string, args: Record<string, string>, signal?: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

interface Way {
  url: string;
  token: string;
  /** The inspector keeps a catalogue there. */
  home: string;
}

export async function connectClient(kind: ClientKind, way: Way): Promise<Client> {
  if (kind === "inspector") return inspector(way);
  if (kind === "framework") return await framework(way);
  const { call, close } = await connectSdk(kind, way);
  return { call: (tool, args, signal) => call(tool, args, signal ? { signal } : {}), close };
}

async function framework({ url, token }: Way): Promise<Client> {
  const headers = { authorization: `Bearer ${token}` };
  const client = await createMCPClient({ transport: { type: "http", url: canonicalUrl(url), headers } });
  return {
    async call(tool, args, signal) {
      const options = signal ? { options: { signal } } : {};
      return JSON.stringify(await client.callTool({ name: tool, arguments: args, ...options }));
    },
    close: () => client.close(),
  };
}

const program = join(import.meta.dirname, "..", "..", "..", "node_modules", ".bin", "mcp-inspector");

/** A process for each call. */
function inspector({ url, token, home }: Way): Client {
  return {
    async call(tool, args, signal) {
      const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${value}`]);
      const call = ["--method", "tools/call", "--tool-name", tool, ...given, "--format", "json"];
      const words = ["--cli", canonicalUrl(url), "--header", `Authorization: Bearer ${token}`, ...call];
      const env = { ...process.env, HOME: home };
      try {
        return (await promisify(execFile)(program, words, { env, signal })).stdout;
      } catch (error) {
        // It fails where the tool does, and has told what that said.
        if (signal?.aborted) throw error;
        return (error as { stdout: string }).stdout;
      }
    },
    close: async () => {},
  };
}
