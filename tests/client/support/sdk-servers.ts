// The same small kitchen as an official SDK server, of either version.
import { McpServer as ServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer as ServerV2 } from "@modelcontextprotocol/server";
import { z } from "zod";

export interface Kitchen {
  server: ServerV1 | ServerV2;
  /** What was done, in order. */
  readonly done: string[];
  /** Resolves when `wait` has begun. */
  readonly waiting: Promise<void>;
  /** Lets `wait` end. */
  release(): void;
  addTool(name: string): void;
}

const info = { name: "kitchen", version: "1.2.3" };
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

interface Context {
  signal: AbortSignal;
  progressToken: string | number | undefined;
  progress(params: { progressToken: string | number; progress: number; total?: number }): Promise<void>;
}

function tools(done: string[]) {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    waiting: begun.promise,
    release: released.resolve,
    echo: async ({ text: said }: { text: string }) => {
      done.push(`echo ${said}`);
      return text(said);
    },
    count: async ({ to }: { to: number }, { progressToken, progress }: Context) => {
      for (let i = 1; i <= to; i += 1) {
        if (progressToken !== undefined) await progress({ progressToken, progress: i, total: to });
      }
      done.push(`count ${to}`);
      return text(String(to));
    },
    wait: async (_: object, { signal }: Context) => {
      begun.resolve();
      const aborted = Promise.withResolvers<void>();
      // It may have been cancelled before it began.
      if (signal.aborted) aborted.resolve();
      else signal.addEventListener("abort", () => aborted.resolve(), { once: true });
      await Promise.race([released.promise, aborted.promise]);
      done.push(signal.aborted ? "wait cancelled" : "wait ended");
      return text("waited");
    },
  };
}

export function kitchenV1(): Kitchen {
  const done: string[] = [];
  const { echo, count, wait, waiting, release } = tools(done);
  const server = new ServerV1(info);
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's context
  const context = (extra: any): Context => ({
    signal: extra.signal,
    progressToken: extra._meta?.progressToken,
    progress: (params) => extra.sendNotification({ method: "notifications/progress", params }),
  });
  server.registerTool("echo", { inputSchema: { text: z.string() } }, echo);
  server.registerTool("count", { inputSchema: { to: z.number() } }, (args, extra) =>
    count(args, context(extra)),
  );
  server.registerTool("wait", { inputSchema: {} }, (args, extra) => wait(args, context(extra)));
  server.registerResource("note", "note://today", {}, async (uri) => ({
    contents: [{ uri: uri.href, text: "buy salt" }],
  }));
  server.registerPrompt("greet", {}, async () => ({
    messages: [{ role: "user" as const, content: { type: "text" as const, text: "hello" } }],
  }));
  const addTool = (name: string) => void server.registerTool(name, {}, async () => text(name));
  return { server, done, waiting, release, addTool };
}

export function kitchenV2(): Kitchen {
  const done: string[] = [];
  const { echo, count, wait, waiting, release } = tools(done);
  const server = new ServerV2(info);
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's context
  const context = (ctx: any): Context => ({
    signal: ctx.mcpReq.signal,
    progressToken: ctx.mcpReq._meta?.progressToken,
    progress: (params) => ctx.mcpReq.notify({ method: "notifications/progress", params }),
  });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, echo);
  server.registerTool("count", { inputSchema: z.object({ to: z.number() }) }, (args, ctx) =>
    count(args, context(ctx)),
  );
  server.registerTool("wait", { inputSchema: z.object({}) }, (args, ctx) => wait(args, context(ctx)));
  server.registerResource("note", "note://today", {}, async (uri) => ({
    contents: [{ uri: uri.href, text: "buy salt" }],
  }));
  server.registerPrompt("greet", {}, async () => ({
    messages: [{ role: "user" as const, content: { type: "text" as const, text: "hello" } }],
  }));
  const addTool = (name: string) => void server.registerTool(name, {}, async () => text(name));
  return { server, done, waiting, release, addTool };
}
