// XMPP against Debian's ejabberd: the same cases as with prosody, with an account and as a component; and the latter with
// prosody too. For `npm run soak`.
import { afterAll, beforeAll, describe } from "vitest";
import { startEjabberd } from "./support/ejabberd.ts";
import { platformCases } from "./support/platform-cases.ts";
import { startProsody } from "./support/prosody.ts";
import type { ChatServer } from "./support/start-server.ts";
import { createXmppBench, xmppUsers } from "./support/xmpp-bench.ts";
import { xmppCases } from "./support/xmpp-cases.ts";

let [ejabberd, prosody]: ChatServer[] = [];
beforeAll(async () => {
  [ejabberd, prosody] = await Promise.all([startEjabberd(xmppUsers), startProsody(xmppUsers)]);
});
afterAll(async () => {
  await Promise.all([ejabberd?.stop(), prosody?.stop()]);
});

const started = (server: ChatServer | undefined): ChatServer => {
  if (server === undefined) throw new Error("the server has not started");
  return server;
};

describe("an account at ejabberd", () => {
  platformCases("[X0-2.1-7]", () => createXmppBench(started(ejabberd)));
  xmppCases(() => started(ejabberd));
});

describe("a component of ejabberd", () => {
  platformCases("[X0-2.1-7]", () => createXmppBench(started(ejabberd), true));
});

describe("a component of prosody", () => {
  platformCases("[X0-2.1-7]", () => createXmppBench(started(prosody), true));
});
