// Vercel's AI SDK: tools as its agents have them, and results as it tells them to a model.
import { createMCPClient } from "@ai-sdk/mcp";
import { type Driver, toldOf } from "../support/driver.ts";

export const aiSdk: Driver = {
  client: "Vercel AI SDK",
  package: "@ai-sdk/mcp",
  async connect({ url, token }) {
    const headers = { authorization: `Bearer ${token}` };
    const client = await createMCPClient({ transport: { type: "http", url, headers } });
    // biome-ignore lint/suspicious/noExplicitAny: tools of any form
    const tools: Record<string, any> = await client.tools();
    return {
      tools: async () => Object.keys(tools),
      call: (name, args) =>
        toldOf(async () => {
          const output = await tools[name].execute(args, { toolCallId: "1", messages: [] });
          const shown = tools[name].toModelOutput?.({ output, toolCallId: "1", input: args }) ?? output;
          return { text: JSON.stringify(shown), isError: output?.isError === true };
        }),
      close: () => client.close(),
    };
  },
};
