// XMPP against Debian's prosody: real accounts in a real multi-user chat.
import { createXmppPlatform } from "@mcpx/bridges";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startProxy } from "./support/cuttable-proxy.ts";
import { platformCases } from "./support/platform-cases.ts";
import { domain, startProsody } from "./support/prosody.ts";
import type { ChatServer } from "./support/start-server.ts";
import { createXmppBench, xmppLacks, xmppUsers } from "./support/xmpp-bench.ts";

let prosody: ChatServer;
beforeAll(async () => {
  prosody = await startProsody(xmppUsers);
});
afterAll(() => prosody.stop());
platformCases("[X0-2.1-7]", () => createXmppBench(prosody.port), xmppLacks);

test("a password goes to nobody without TLS, save on loopback", async () => {
  const proxy = await startProxy(prosody.port);
  onTestFinished(() => proxy.close());
  const platform = createXmppPlatform({
    // This machine by another name than loopback's.
    service: `xmpp://0.0.0.0:${proxy.port}`,
    domain,
    username: "mcpx",
    password: () => expect.unreachable("the password was asked for"),
    nick: "mcpx",
    channels: [],
  });
  const nobody = { said: async () => {}, pressed: async () => {}, failed: () => {} };
  await expect(platform.start(nobody)).rejects.toThrow(/no TLS/);
});
