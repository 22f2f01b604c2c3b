// The official SDKs' clients at a tree, keeping every notification they get, whatever its method.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import { canonicalUrl } from "../../../support/canonical-url.ts";
import { createListening } from "../../../support/listening.ts";
import type { Message, Place } from "../../support/ask.ts";

export const kinds = ["v1", "v2 legacy", "v2 modern"] as const;
export type Kind = (typeof kinds)[number];
type Level = "debug" | "info" | "warning" | "error";

export interface Hearing {
  readonly heard: Message[];
  /** The same without changes of lists. */
  said(): Message[];
  of(method: string): Message[];
}

/** `level`: set by a legacy client, wished by a modern one. Without it the client asks for nothing it need not ask for. */
export async function hearing(kind: Kind, place: Place, level?: Level): Promise<Hearing> {
  const heard: Message[] = [];
  const keep = async ({ method, params }: Message) => void heard.push({ method, params });
  const requestInit = { headers: { authorization: `Bearer ${place.token}` } };
  const url = new URL(canonicalUrl(place.url));
  const info = { name: "hearing", version: "1" };
  const listening = createListening();
  if (kind === "v1") {
    const client = new ClientOne(info);
    client.fallbackNotificationHandler = keep;
    const transport = new HttpOne(url, { requestInit, fetch: listening.fetch });
    await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
    await listening.opened;
    if (level !== undefined) await client.setLoggingLevel(level);
    await client.listTools();
    onTestFinished(() => client.close());
  } else {
    const mode = kind === "v2 modern" ? { pin: "2026-07-28" } : ("legacy" as const);
    const client = new Client(info, { versionNegotiation: { mode } });
    client.fallbackNotificationHandler = keep;
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit, fetch: listening.fetch }));
    if (kind === "v2 legacy") await listening.opened;
    await client.listTools();
    if (kind === "v2 modern") {
      // Its types know only the specification's own wishes.
      const wish = { "org.mcpax/notifications": level === undefined ? true : { logLevel: level } };
      const { honoredFilter } = await client.listen({ toolsListChanged: true, ...wish } as never);
      if (honoredFilter.toolsListChanged !== true) throw new Error(JSON.stringify(honoredFilter));
    } else if (level !== undefined) await client.setLoggingLevel(level);
    onTestFinished(() => client.close());
  }
  const of = (method: string) => heard.filter((one) => one.method === method).map(({ params }) => params);
  const said = () => heard.filter(({ method }) => !method.endsWith("/list_changed"));
  return { heard, said, of };
}

/** Without what belongs to the hop. */
export function bare(params: Message): Message {
  const { "io.modelcontextprotocol/subscriptionId": _, ..._meta } = params._meta ?? {};
  return { ...params, _meta };
}
