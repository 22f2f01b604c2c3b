// The official SDKs' clients that open addresses for their users: version 1 speaks legacy, version 2 both eras.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Kind } from "./sdk-callers.ts";

/** What a user does with an address; `undefined` for clients that cannot show any. */
export type Opens = ((url: string) => Promise<"accept" | "decline">) | undefined;

export interface UrlCaller {
  /** How often it was told that the tools have changed. */
  readonly changes: { count: number };
  /** Questions it was asked, and those of them it was told are over (version 1). */
  readonly asked: string[];
  readonly over: string[];
  tools(): Promise<string[]>;
  prompts(): Promise<string[]>;
  resources(): Promise<string[]>;
  read(uri: string): Promise<string>;
  call(name: string): Promise<{ text: string; isError: boolean; url: string | undefined }>;
  instructions(): string | undefined;
  /** Asks to be told of changed lists. */
  watch(): Promise<void>;
  close(): Promise<void>;
}

export async function connectUrlCaller(
  kind: Kind,
  { url, token, opens }: { url: string; token: string; opens?: Opens },
): Promise<UrlCaller> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const capabilities = opens === undefined ? {} : { elicitation: { url: {} } };
  const changes = { count: 0 };
  const asked: string[] = [];
  const over: string[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: what both SDKs ask has the same members
  const answer = async ({ params }: any) => {
    if (params.mode !== "url") throw new Error("not an address");
    asked.push(params.elicitationId);
    return { action: (await opens?.(params.url)) ?? "decline" };
  };
  if (kind === "v1") {
    const client = new ClientOne({ name: "one", version: "1" }, { capabilities });
    if (opens !== undefined) client.setRequestHandler(ElicitRequestSchema, answer);
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes.count += 1;
    });
    client.setNotificationHandler(
      ElicitationCompleteNotificationSchema,
      ({ params }) => void over.push(params.elicitationId),
    );
    const transport = new HttpOne(new URL(url), { requestInit });
    // Its types are of before `exactOptionalPropertyTypes`.
    await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
    return {
      ...verbs(client),
      changes,
      asked,
      over,
      watch: async () => {},
      async close() {
        await transport.terminateSession();
        await client.close();
      },
    };
  }
  const isModern = kind === "v2 modern";
  const mode = isModern ? { pin: "2026-07-28" } : ("legacy" as const);
  const client = new Client({ name: "two", version: "1" }, { capabilities, versionNegotiation: { mode } });
  if (opens !== undefined) client.setRequestHandler("elicitation/create", answer);
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    changes.count += 1;
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport);
  return {
    ...verbs(client),
    changes,
    asked,
    over,
    async watch() {
      if (isModern) await client.listen({ toolsListChanged: true });
    },
    async close() {
      if (!isModern) await transport.terminateSession();
      await client.close();
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the two SDKs' clients have the same members
function verbs(client: any): Omit<UrlCaller, "changes" | "asked" | "over" | "watch" | "close"> {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const names = (items: any[]): string[] => items.map(({ name }) => name);
  return {
    tools: async () => names((await client.listTools()).tools),
    prompts: async () => names((await client.listPrompts()).prompts),
    // biome-ignore lint/suspicious/noExplicitAny: as above
    resources: async () => (await client.listResources()).resources.map(({ uri }: any) => uri),
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    async call(name) {
      const { content, isError, structuredContent } = await client.callTool({ name, arguments: {} });
      return { text: content[0].text, isError: isError === true, url: structuredContent?.sign_in_url };
    },
    instructions: () => client.getInstructions(),
  };
}
