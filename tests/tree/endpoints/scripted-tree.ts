// A tree of one small server that does as its tools are called: what endpoints are tested against.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Caller, Exchange } from "../../../packages/aggregator/src/mcp/exchange.ts";
import { rpcError } from "../../../packages/aggregator/src/mcp/rpc-error.ts";
import type { Subscription, Tree, Wishes } from "../../../packages/aggregator/src/mcp/tree.ts";

export interface ScriptedTree extends Tree {
  /** Every exchange that came, in order. */
  readonly exchanges: Exchange[];
  readonly told: [method: string, params: JsonObject][];
  readonly left: Caller[];
  readonly subscriptions: Set<{ caller: Caller; wishes: Wishes }>;
  /** Calls of `slow` end when this is called. */
  release(): void;
  /** Tells all who wish to hear it. */
  announce(method: string, params?: JsonObject): void;
}

const text = (value: unknown) => ({
  resultType: "complete",
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});

const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
};

const form = (message: string) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { answer: { type: "string" } } } },
});

function isWished(wishes: Wishes, method: string, params: JsonObject): boolean {
  if (method === "notifications/tools/list_changed") return wishes.toolsListChanged === true;
  if (method === "notifications/prompts/list_changed") return wishes.promptsListChanged === true;
  if (method === "notifications/resources/list_changed") return wishes.resourcesListChanged === true;
  return wishes.resourceSubscriptions?.includes(String(params.uri)) === true;
}

export function createScriptedTree(): ScriptedTree {
  const exchanges: Exchange[] = [];
  const told: [string, JsonObject][] = [];
  const left: Caller[] = [];
  const subscriptions = new Set<{
    caller: Caller;
    wishes: Wishes;
    deliver(method: string, params: JsonObject): void;
  }>();
  let released = Promise.withResolvers<void>();

  async function slow({ signal }: Pick<Exchange, "signal">): Promise<JsonObject> {
    const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    await Promise.race([released.promise, aborted]);
    return text("released");
  }

  const tools: Record<string, (exchange: Exchange, input: JsonObject) => Promise<JsonObject> | JsonObject> = {
    echo: ({ params }) => text(params),
    large: (_, { chars }) => text("x".repeat(Number(chars))),
    who: ({ caller }) =>
      text([caller.principal.id, caller.era, caller.dialect, caller.profile?.name ?? null]),
    async slow({ signal }) {
      const aborted = new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      await Promise.race([released.promise, aborted]);
      return text("released");
    },
    notifies({ notify }) {
      notify("notifications/progress", { progress: 1, total: 2 });
      notify("notifications/message", { level: "info", data: "half" });
      notify("notifications/message", { level: "debug", data: "whisper" });
      notify("notifications/progress", { progress: 2, total: 2 });
      return text("done");
    },
    async speaks({ notify, signal }) {
      notify("notifications/message", { level: "error", data: "first" });
      const aborted = new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      await Promise.race([released.promise, aborted]);
      notify("notifications/message", { level: "error", data: "second" });
      return text("spoken");
    },
    asks: async ({ ask }) => text(await ask({ name: form("your name?") })),
    async asksTwice({ ask }) {
      const [a, b] = await Promise.all([ask({ q: form("one") }), ask({ q: form("two") })]);
      const c = await ask({ q: form("three") });
      return text([a.q, b.q, c.q]);
    },
    async asksThenSlow(exchange) {
      await exchange.ask({ q: form("go on?") });
      return slow(exchange);
    },
    async asksModel({ ask }) {
      const params = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 10 };
      return text((await ask({ model: { method: "sampling/createMessage", params } })).model);
    },
    throws() {
      throw new Error("the secret of the house");
    },
    refuses() {
      throw rpcError(-32042, "visit first", { elicitations: [{ url: "https://example.com" }] });
    },
  };

  async function handle(exchange: Exchange): Promise<JsonObject> {
    exchanges.push(exchange);
    const { method, params } = exchange;
    switch (method) {
      case "tools/list": {
        const list = Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } }));
        return { resultType: "complete", tools: list, ttlMs: 1_000, cacheScope: "private" };
      }
      case "tools/call": {
        const tool = Object.hasOwn(tools, String(params.name)) ? tools[String(params.name)] : undefined;
        if (tool === undefined) throw new McpxError("unknown_tool");
        return tool(exchange, (params.arguments ?? {}) as JsonObject);
      }
      case "resources/read":
        throw new McpxError("unknown_resource");
      default:
        throw new McpxError("unknown_method");
    }
  }

  return {
    exchanges,
    told,
    left,
    subscriptions,
    release() {
      released.resolve();
      released = Promise.withResolvers();
    },
    announce(method, params = {}) {
      for (const { wishes, deliver } of subscriptions)
        if (isWished(wishes, method, params)) deliver(method, params);
    },
    describe: async () => ({
      info: { name: "scripted", version: "1.0.0" },
      capabilities,
      instructions: "Do as you are told.",
    }),
    handle,
    async subscribe(caller, wishes, deliver): Promise<Subscription> {
      const granted = {
        ...wishes,
        resourceSubscriptions: wishes.resourceSubscriptions?.filter(isKnown) ?? [],
      };
      const entry = { caller, wishes: granted, deliver };
      subscriptions.add(entry);
      return { granted, close: () => void subscriptions.delete(entry) };
    },
    tell: (_caller, method, params) => void told.push([method, params]),
    leave: (caller) => void left.push(caller),
  };
}

const isKnown = (uri: string) => uri.startsWith("test://");
