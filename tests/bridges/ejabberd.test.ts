// XMPP against Debian's ejabberd: the same cases as with prosody. For `npm run soak`.
import { afterAll, beforeAll } from "vitest";
import { startEjabberd } from "./support/ejabberd.ts";
import { platformCases } from "./support/platform-cases.ts";
import { createXmppBench, xmppLacks, xmppUsers } from "./support/xmpp-bench.ts";

let server: Awaited<ReturnType<typeof startEjabberd>>;
beforeAll(async () => {
  server = await startEjabberd(xmppUsers);
});
afterAll(() => server.stop());

platformCases("[X0-2.1-7]", () => createXmppBench(server.port), xmppLacks);
