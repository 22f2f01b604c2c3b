// The official SDKs' clients behind one endpoint: version 1 speaks legacy, version 2 both eras. Each answers what it is
// asked with its own name, and keeps what it hears.
import {
  Client,
  LOG_LEVEL_META_KEY,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioOne } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { canonicalUrl } from "../../support/canonical-url.ts";
import { hearSteps } from "../../support/hear-steps.ts";
import { createListening } from "../../support/listening.ts";

export const kinds = ["v1", "v2 legacy", "v2 modern"] as const;
export type Kind = (typeof kinds)[number];

export type Way = { url: string; token: string } | { command: string; args: string[] };

interface CallOptions {
  onprogress?: (step: { progress: number }) => void;
  signal?: AbortSignal;
}

export interface SdkCaller {
  /** `tools`, `prompts`, `updated URI`, `log TEXT`; questions as `asked METHOD`. */
  readonly heard: string[];
  /** Of all calls that asked for progress. */
  readonly steps: number[];
  tools(): Promise<string[]>;
  /** The result's first text, or what it is instead. */
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>;
  read(uri: string): Promise<{ uri: string; text: string }>;
  prompt(name: string, args?: Record<string, string>): Promise<string>;
  completePrompt(name: string, value: string): Promise<string[]>;
  /** Asks to be told of changed lists and of this resource. */
  watch(uri: string): Promise<void>;
  close(): Promise<void>;
}

const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

/** What a caller called `name` fills into any form. */
function contentOf(name: string, message: string) {
  return message.includes("color")
    ? { color: "blue" }
    : { name, ok: true, username: name, email: `${name}@example.org` };
}

export async function connectSdk(kind: Kind, way: Way, name = "Ada"): Promise<SdkCaller> {
  return kind === "v1" ? connectOne(way, name) : connectTwo(way, name, kind === "v2 modern");
}

// biome-ignore lint/suspicious/noExplicitAny: the two SDKs' results have the same members
type Result = any;

function textOf({ content }: Result): string {
  return content?.[0]?.text ?? content?.[0]?.type ?? "nothing";
}

function promptText({ messages }: Result): string {
  return messages[0].content.text;
}

async function connectOne(way: Way, name: string): Promise<SdkCaller> {
  const heard: string[] = [];
  const client = new ClientOne({ name: "sdk-one", version: "1" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    heard.push("asked elicitation/create");
    return { action: "accept", content: contentOf(name, params.message) };
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => {
    heard.push("asked sampling/createMessage");
    return { role: "assistant", model: "m", content: { type: "text", text: `${name} says` } };
  });
  client.setRequestHandler(ListRootsRequestSchema, () => {
    heard.push("asked roots/list");
    return { roots: [{ uri: `file:///${name}` }] };
  });
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void heard.push(`log ${params.data}`),
  );
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push("tools"));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => void heard.push("prompts"));
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void heard.push(`updated ${params.uri}`),
  );
  const listening = createListening();
  const transport =
    "url" in way
      ? new HttpOne(new URL(canonicalUrl(way.url)), {
          requestInit: { headers: { authorization: `Bearer ${way.token}` } },
          fetch: listening.fetch,
        })
      : new StdioOne(way);
  // Its types are of before `exactOptionalPropertyTypes`.
  await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
  if ("url" in way) await listening.opened;
  const steps = hearSteps(transport);
  return {
    heard,
    steps,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (tool, args = {}, options = {}) =>
      textOf(await client.callTool({ name: tool, arguments: args }, undefined, options)),
    async read(uri) {
      const [first] = (await client.readResource({ uri })).contents;
      return first as { uri: string; text: string };
    },
    prompt: async (prompt, args = {}) =>
      promptText(await client.getPrompt({ name: prompt, arguments: args })),
    completePrompt: async (prompt, value) =>
      (
        await client.complete({
          ref: { type: "ref/prompt", name: prompt },
          argument: { name: "arg1", value },
        })
      ).completion.values,
    watch: async (uri) => void (await client.subscribeResource({ uri })),
    async close() {
      if (transport instanceof HttpOne) await transport.terminateSession();
      await client.close();
    },
  };
}

async function connectTwo(way: Way, name: string, isModern: boolean): Promise<SdkCaller> {
  const heard: string[] = [];
  const mode = isModern ? { pin: "2026-07-28" } : ("legacy" as const);
  const client = new Client(
    { name: "sdk-two", version: "1" },
    { capabilities, versionNegotiation: { mode } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    heard.push("asked elicitation/create");
    return { action: "accept", content: contentOf(name, params.message) };
  });
  client.setRequestHandler("sampling/createMessage", () => {
    heard.push("asked sampling/createMessage");
    return { role: "assistant", model: "m", content: { type: "text", text: `${name} says` } };
  });
  client.setRequestHandler("roots/list", () => {
    heard.push("asked roots/list");
    return { roots: [{ uri: `file:///${name}` }] };
  });
  client.setNotificationHandler(
    "notifications/message",
    ({ params }) => void heard.push(`log ${params.data}`),
  );
  client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
  client.setNotificationHandler("notifications/prompts/list_changed", () => void heard.push("prompts"));
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void heard.push(`updated ${params.uri}`),
  );
  const listening = createListening();
  const transport: Transport =
    "url" in way
      ? new StreamableHTTPClientTransport(new URL(canonicalUrl(way.url)), {
          requestInit: { headers: { authorization: `Bearer ${way.token}` } },
          fetch: listening.fetch,
        })
      : new StdioClientTransport(way);
  await client.connect(transport);
  if ("url" in way && !isModern) await listening.opened;
  // A modern client says with each request how much it wants to hear.
  const _meta = isModern ? { _meta: { [LOG_LEVEL_META_KEY]: "info" } } : {};
  const steps = hearSteps(transport);
  return {
    heard,
    steps,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (tool, args = {}, options = {}) =>
      textOf(await client.callTool({ name: tool, arguments: args, ..._meta }, options)),
    async read(uri) {
      const [first] = (await client.readResource({ uri })).contents;
      return first as { uri: string; text: string };
    },
    prompt: async (prompt, args = {}) =>
      promptText(await client.getPrompt({ name: prompt, arguments: args })),
    completePrompt: async (prompt, value) =>
      (
        await client.complete({
          ref: { type: "ref/prompt", name: prompt },
          argument: { name: "arg1", value },
        })
      ).completion.values,
    async watch(uri) {
      if (!isModern) await client.subscribeResource({ uri });
      else
        await client.listen({
          toolsListChanged: true,
          promptsListChanged: true,
          resourceSubscriptions: [uri],
        });
    },
    async close() {
      if (transport instanceof StreamableHTTPClientTransport && !isModern) await transport.terminateSession();
      await client.close();
    },
  };
}
