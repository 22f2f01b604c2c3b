// The model's side: a client of the official SDK that sees one server, whatever stands behind it.
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport, type Tool } from "@modelcontextprotocol/client";
import type { ExampleTree } from "./start-tree.ts";

export interface ModelClient extends AsyncDisposable {
  /** Waits until the tree has exactly these, its own aside; what stands below may take a moment to be known above. */
  expectTools(names: readonly string[]): Promise<ReadonlyMap<string, Tool>>;
  /** The text of the answer. */
  call(name: string, args?: Record<string, unknown>): Promise<string>;
}

const patienceMs = 15_000;

export async function connectModel(tree: ExampleTree): Promise<ModelClient> {
  const token = await tree.token({ sub: "model", tools: ["**"] });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ name: "model", version: "1.0.0" });
  // Dotted, as the tree itself writes them; models get names without dots where nobody asks for these.
  const url = new URL(`${tree.url}/mcp?names=canonical`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));

  async function list(): Promise<Map<string, Tool>> {
    const { tools } = await client.listTools();
    const served = tools.filter(({ name }) => !name.split(".").includes("mcpax"));
    return new Map(served.map((tool) => [tool.name, tool]));
  }

  return {
    async expectTools(names) {
      const until = performance.now() + patienceMs;
      let tools = await list();
      while ([...tools.keys()].join() !== names.join() && performance.now() < until) {
        await wait(50);
        tools = await list();
      }
      assert.deepEqual([...tools.keys()], names);
      return tools;
    },
    async call(name, args = {}) {
      const { content } = await client.callTool({ name, arguments: args });
      const [first] = content;
      assert.equal(first?.type, "text");
      return first.text;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** How many aggregators a call goes through. */
export function hopsOf(tool: Tool | undefined): unknown {
  return tool?._meta?.["x-mcpax-hops"];
}

export function capabilityOf(tool: Tool | undefined): Record<string, unknown> {
  return (tool?._meta?.["x-mcpax-capability"] ?? {}) as Record<string, unknown>;
}
