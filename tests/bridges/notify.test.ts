// Notify-only bridges over real sockets: a signed webhook, and ntfy with a server that knows its rules.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createNtfyPlatform, createWebhookPlatform, createWebhookVerifier } from "@mcpx/bridges";
import { expect, onTestFinished, test } from "vitest";
import { bridgeName, startBridgedRoom } from "./support/bridged-room.ts";
import { nobody } from "./support/nobody.ts";

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** `answer` may refuse; what it lets pass is received. */
async function startReceiver(answer: (received: Received, response: ServerResponse) => boolean) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const one = { headers: request.headers, body: await text(request) };
    if (answer(one, response)) {
      received.push(one);
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ id: `n${received.length}` }));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

test("[B-NOTIFY-1] what waits reaches a signed webhook, its end too; a forged, stale or replayed one is refused", async () => {
  const { url, received } = await startReceiver(() => true);
  const room = await startBridgedRoom({
    kind: "webhook",
    channel: "alerts",
    open: () => createWebhookPlatform({ url, secret: () => secret }),
  });
  const bob = await room.join("bob");
  await bob.say("chat stays in the room");
  room.propose("dock 1", { reason: "a parcel waits" });
  await expect.poll(() => received.length).toBe(1);
  const [opened] = received as [Received];
  const { type, data } = JSON.parse(opened.body);
  expect(type).toBe("proposal.opened");
  expect(data).toMatchObject({ channel: "alerts", link: `${room.server.url}/` });
  expect(data.text).toMatch(/robot: move[\s\S]*agent proposes it: a parcel waits/);
  expect(data.text).not.toContain("approve ");
  const verify = createWebhookVerifier(secret);
  const headers = opened.headers as Record<string, string>;
  const now = Date.now();
  expect(verify({ headers, body: opened.body.replace("dock 1", "dock 2") }, now)).toBe("forged");
  expect(verify({ headers: { ...headers, "webhook-id": "msg_other" }, body: opened.body }, now)).toBe(
    "forged",
  );
  expect(verify({ headers: { ...headers, "webhook-signature": "v1,AAAA" }, body: opened.body }, now)).toBe(
    "forged",
  );
  const other = createWebhookVerifier(`whsec_${Buffer.alloc(32, 8).toString("base64")}`);
  expect(other({ headers, body: opened.body }, now)).toBe("forged");
  expect(verify({ headers, body: opened.body }, now + 400_000)).toBe("stale");
  expect(verify({ headers, body: opened.body }, now)).toBe("good");
  expect(verify({ headers, body: opened.body }, now + 1_000)).toBe("replayed");
  const [proposal] = bob.proposals.pending();
  if (proposal !== undefined) await bob.proposals.fulfil(proposal);
  await expect.poll(() => received.at(-1)?.body).toContain("Approved by bob");
  expect(JSON.parse(received.at(-1)?.body ?? "")).toMatchObject({
    type: "proposal.changed",
    data: { card: data.card },
  });
});

/** What every bridge must do that only tells. Browsers are told by the console: tests/console/push.test.ts. */
for (const { kind, open, textOf, idOf } of [
  {
    kind: "webhook" as const,
    open: (url: string) => createWebhookPlatform({ url, secret: () => secret }),
    textOf: (sent: Record<string, unknown>) => String((sent.data as { text: string }).text),
    idOf: ({ headers }: Received) => String(headers["webhook-id"]),
  },
  {
    kind: "ntfy" as const,
    open: (url: string) => createNtfyPlatform({ url }),
    textOf: ({ title, message }: Record<string, unknown>) => `${String(title)}\n${String(message)}`,
    // ntfy gives ids itself.
    idOf: () => "the same",
  },
]) {
  test(`[B-NOTIFY-1] ${kind}: down, then too busy, it gets the same post after the time it says, and once over a restart`, async () => {
    const tries: { at: number; id: string; body: string }[] = [];
    const { url, received } = await startReceiver((one, response) => {
      tries.push({ at: performance.now(), id: idOf(one), body: one.body.replace(/"timestamp":"[^"]*"/, "") });
      if (tries.length === 1) response.writeHead(503).end();
      else if (tries.length === 2) response.writeHead(429, { "retry-after": "1" }).end();
      return tries.length > 2;
    });
    const room = await startBridgedRoom({ kind, channel: "alerts", open: () => open(url) });
    const bob = await room.join("bob");
    await bob.say("chat stays in the room");
    room.propose(`dock \u202e@everyone <b> ${"x".repeat(40_000)}`);
    await expect.poll(() => received.length).toBe(1);
    expect(tries).toHaveLength(3);
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
    expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
    expect((tries[2]?.at ?? 0) - (tries[1]?.at ?? 0)).toBeGreaterThan(950);
    const shown = textOf(JSON.parse(received[0]?.body ?? ""));
    expect(shown).toContain("dock \\u202e@everyone <b> xxx");
    expect(shown).toMatch(/\(40\d\d\d characters\)/);
    expect(shown.length).toBeLessThan(3_000);
    expect(shown).not.toContain("chat stays");
    const [card] = await room.store.openCards(bridgeName, "alerts");
    await expect.poll(async () => (await room.store.card(card?.id ?? ""))?.ref).toEqual(expect.any(String));
    await room.restart();
    // Control: what comes afterwards is told, and what was told is not told again.
    room.propose("dock 2");
    // A webhook hears again how open cards are; nothing is told as new that is not.
    const opened = () =>
      received.flatMap(({ body }) => {
        const sent = JSON.parse(body);
        return sent.type === "proposal.changed" ? [] : [textOf(sent)];
      });
    await expect.poll(() => opened().at(-1)).toContain("dock 2");
    expect(opened()).toHaveLength(2);
    expect(room.moves).toEqual([]);
  });
}

test("[B-NOTIFY-1] what waits reaches a phone by ntfy, with the page to decide it and nothing else", async () => {
  const { url, received } = await startReceiver(({ headers, body }, response) => {
    const { topic, message, title, ...rest } = JSON.parse(body);
    const isAllowed = headers.authorization === "Bearer tk_secret";
    const isValid =
      /^[-_A-Za-z0-9]{1,64}$/.test(topic) &&
      Buffer.byteLength(message) <= 4_096 &&
      typeof title === "string" &&
      Object.keys(rest).every((key) => ["tags", "priority", "click", "actions"].includes(key));
    if (!isAllowed) response.writeHead(403).end();
    else if (!isValid) response.writeHead(400).end();
    return isAllowed && isValid;
  });
  const room = await startBridgedRoom({
    kind: "ntfy",
    channel: "ops-phone",
    open: () => createNtfyPlatform({ url, token: () => "tk_secret" }),
  });
  const bob = await room.join("bob");
  await bob.say("chat stays in the room");
  room.propose(`dock \u202e${"ü".repeat(3_000)}`);
  await expect.poll(() => received.length).toBe(1);
  const sent = JSON.parse(received[0]?.body ?? "");
  expect(sent).toMatchObject({ topic: "ops-phone", title: "robot: move", click: `${room.server.url}/` });
  expect(sent.actions).toEqual([{ action: "view", label: "Open to decide", url: `${room.server.url}/` }]);
  expect(sent.message).toContain("\\u202e");
});

test("an address that redirects does not get the secret's signature elsewhere", async () => {
  const elsewhere = await startReceiver(() => true);
  const { url } = await startReceiver((_, response) => {
    response.writeHead(307, { location: elsewhere.url }).end();
    return false;
  });
  const platform = createWebhookPlatform({ url, secret: () => secret });
  await expect(platform.post("a", { parts: [], buttons: [] }, "k")).rejects.toMatchObject({ fault: "down" });
  expect(elsewhere.received).toEqual([]);
});

test("a secret that is missing or too short is told at the start, before anything waits", async () => {
  const missing = () => {
    throw new Error("the environment variable NTFY_TOKEN is not set");
  };
  const ntfy = createNtfyPlatform({ url: "http://127.0.0.1:1", token: missing });
  await expect(ntfy.start(nobody)).rejects.toThrow("NTFY_TOKEN");
  const webhook = createWebhookPlatform({ url: "http://127.0.0.1:1", secret: () => "whsec_c2hvcnQ=" });
  await expect(webhook.start(nobody)).rejects.toThrow("at least 24 bytes");
});
