// A human who needs two minutes costs a model that is known to wait one turn, with progress and without.
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, test } from "vitest";
import { openStage, type Stage } from "./support/stage.ts";

const decisionMs = 130_000;

describe("approved after two minutes", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });

  afterAll(() => stage?.close());

  test.concurrent.for([
    ["claude-code", true],
    ["codex-mcp-client", false],
  ] as const)(
    "[B-CLIENT-1] %s is held until then",
    { timeout: 300_000 },
    async ([name, hears], { expect }) => {
      const { url, token } = await stage.tree(name);
      const client = new Client({ name, version: "1.0.0" });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
      // Its types are of before `exactOptionalPropertyTypes`.
      await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
      const steps: unknown[] = [];
      const options = {
        timeout: 280_000,
        ...(hears && { onprogress: (step: unknown) => void steps.push(step) }),
      };
      const first = await client.callTool(
        { name: "papers__shred", arguments: { paper: name } },
        undefined,
        options,
      );
      const { wait: advice } = first.structuredContent as { wait: { tool: string; arguments: object } };
      const waiting = client.callTool({ ...advice, name: advice.tool } as never, undefined, options);
      await Promise.all([waiting, wait(decisionMs).then(() => stage.decide(name, "approve"))]);
      expect(await waiting).toMatchObject({ content: [{ text: `${name} is shredded` }] });
      expect(steps.length > 30).toBe(hears);
      await client.close();
    },
  );
});
