// XMPP against Debian's prosody: real accounts in a real multi-user chat.
import { createXmppPlatform } from "@mcpx/bridges";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startProxy } from "./support/cuttable-proxy.ts";
import { nobody } from "./support/nobody.ts";
import { platformCases } from "./support/platform-cases.ts";
import { domain, startProsody } from "./support/prosody.ts";
import type { ChatServer } from "./support/start-server.ts";
import { createXmppBench, xmppUsers } from "./support/xmpp-bench.ts";
import { xmppCases } from "./support/xmpp-cases.ts";

let prosody: ChatServer;
beforeAll(async () => {
  prosody = await startProsody(xmppUsers);
});
afterAll(() => prosody.stop());
platformCases("[X0-2.1-7]", () => createXmppBench(prosody));
xmppCases(() => prosody);

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
  await expect(platform.start(nobody)).rejects.toThrow(/no TLS/);
});

test("a component is connected on loopback only: nobody between may read what is said or change who says it", async () => {
  const platform = createXmppPlatform({
    ...{ service: "xmpp://192.0.2.1:5347", domain: "bridge.localhost", username: "mcpx", isComponent: true },
    password: () => expect.unreachable("the secret was asked for"),
    ...{ nick: "mcpx", channels: [] },
  });
  await expect(platform.start(nobody)).rejects.toThrow("on loopback only");
});
