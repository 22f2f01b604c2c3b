// Servers of the configuration that die: clients are told once for each loss, and hear what such servers say unasked.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { callTool, type Place, textOf } from "../support/ask.ts";
import { stdioBackend } from "../support/backends.ts";
import { bare, hearing, type Kind } from "./support/hearing-client.ts";
import { type MortalServer, startMortal } from "./support/mortal-server.ts";

let server: TestServer;
const mortals = {} as Record<"legacy" | "modern", MortalServer>;
const lost = "notifications/mcpax/subserver_lost";

beforeAll(async () => {
  mortals.legacy = await startMortal("legacy");
  mortals.modern = await startMortal("modern");
  server = await startTestServer({
    config: {
      mcpServers: {
        child: stdioBackend(),
        legacy: { url: mortals.legacy.url },
        modern: { url: mortals.modern.url },
      },
    },
  });
});

afterAll(async () => {
  await server.stop();
  for (const one of Object.values(mortals)) await one.die().catch(() => {});
});

async function place(): Promise<Place> {
  const sub = `reader-${randomUUID()}`;
  return { url: `${server.url}/mcp`, token: await server.token({ sub, topics: [], tools: ["**"] }) };
}

test.each(["v1", "v2 modern"] as const)(
  "[AX-13.1-1] [AX-12-4] %s hears once that a child was killed, and again when the next one is",
  async (kind: Kind) => {
    const at = await place();
    const client = await hearing(kind, at, "warning");
    for (const losses of [1, 2]) {
      process.kill(Number(textOf(await callTool(at, "child.work"))), "SIGKILL");
      await expect.poll(() => client.of(lost).length).toBe(losses);
      expect(bare(client.of(lost).at(-1))).toEqual({
        segment: "child",
        reason: "subserver_unreachable",
        since: expect.stringMatching(/^\d{4}-/),
        _meta: { "x-mcpax-route": ["child"] },
      });
    }
  },
);

test.each(["legacy", "modern"] as const)(
  "[AX-13.1-1] [AX-12-1] a %s server over HTTP is heard, told of as lost when nobody is at its address, and found again",
  async (era) => {
    const mortal = mortals[era];
    const at = await place();
    const client = await hearing("v2 legacy", at, "info");
    const ofIt = () => client.of(lost).filter(({ segment }) => segment === era);
    await expect
      .poll(() => {
        mortal.say("notifications/message", { level: "info", data: "here" });
        return client.of("notifications/message").map(({ _meta }) => _meta["x-mcpax-route"]);
      })
      .toContainEqual([era]);
    await mortal.die();
    await expect.poll(() => ofIt().length, { timeout: 20_000 }).toBe(1);
    expect((await callTool(at, `${era}.t`)).message.error).toMatchObject({
      code: -32002,
      data: { reason: "subserver_unreachable" },
    });
    await mortal.comeBack();
    // It answers again that it knows no such method, as it did when it was new.
    await expect
      .poll(async () => (await callTool(at, `${era}.t`)).message.error?.code, { timeout: 20_000 })
      .toBe(-32601);
    expect(ofIt()).toHaveLength(1);
  },
);
