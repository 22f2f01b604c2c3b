import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";
import type { AwaitedAuthorisation } from "./awaited-authorisation.ts";

const address = "https://idp.example/authorise?state=s";

/** A tree with one server that does not open before it is authorised, and gives up waiting at once. */
function setUp() {
  const awaited: AwaitedAuthorisation = { address: undefined };
  let isGranted = false;
  let tries = 0;
  const team = inProcessServer({
    tools: [{ name: "read", inputSchema: { type: "object" } }],
    opening() {
      tries += 1;
      if (isGranted) return;
      awaited.address = address;
      throw new Error("it did not answer in time");
    },
  });
  const { ask } = testTree([serverOptions("team", team.open, { origin: { kind: "configured", awaited } })]);
  return {
    ask,
    tries: () => tries,
    over(granted: boolean) {
      isGranted = granted;
      awaited.address = undefined;
      awaited.over?.(granted);
    },
    names: async () => ((await ask("tools/list")).tools as JsonObject[]).map(({ name }) => name),
    status: async (more: Parameters<typeof ask>[2] = {}) => {
      const { structuredContent } = await ask("tools/call", { name: "mcpax.status" }, more);
      return (structuredContent as { servers: JsonObject[] }).servers.find(({ name }) => name === "team");
    },
  };
}

test("a server that waits to be authorised says so, and where to operators alone", async () => {
  const { names, status } = setUp();
  expect(await names()).not.toContain("team.read");
  const seen = await status();
  expect(seen).toMatchObject({ state: "needs authorisation", fault: "an operator has to authorise it" });
  expect(JSON.stringify(seen)).not.toContain("idp.example");
  expect(await status({ principal: { admin: true } })).toMatchObject({ authorise_url: address });
  const inRoom = await status({ principal: { admin: true }, caller: { isPublic: true } });
  expect(JSON.stringify(inRoom)).not.toContain("idp.example");
});

test("it is not tried while it waits, and its tools are there as soon as it is granted", async () => {
  const { names, status, tries, over } = setUp();
  await names();
  await names();
  expect(tries()).toBe(1);
  over(true);
  expect(await names()).toContain("team.read");
  expect(await status({ principal: { admin: true } })).toMatchObject({ state: "up" });
  expect(await status({ principal: { admin: true } })).not.toHaveProperty("authorise_url");
});

test("where nobody came in time, it does not say that somebody is waited for", async () => {
  const { names, status, over } = setUp();
  await names();
  over(false);
  expect(await status({ principal: { admin: true } })).toMatchObject({ state: "ailing" });
});
