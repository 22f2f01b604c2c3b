import { once } from "node:events";
import { connect } from "node:net";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { lines, sendRaw, start, statusOf } from "./listener-cases.ts";
import type { ResponseStream } from "./response-stream.ts";
import type { Route } from "./routes.ts";

const headers = { "content-type": "text/event-stream" };

function streaming() {
  const opened = Promise.withResolvers<ResponseStream>();
  const gone = Promise.withResolvers<void>();
  const route: Route = {
    method: "GET",
    path: "/stream",
    handle: (request) => {
      request.onGone(() => gone.resolve());
      return { headers, stream: (out) => opened.resolve(out) };
    },
  };
  return { route, opened: opened.promise, gone: gone.promise };
}

test("a stream's headers come at once, its text as it is written", async () => {
  const { route, opened } = streaming();
  const { url } = await start({ routes: [route] });
  const response = await fetch(`${url}/stream`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const out = await opened;
  expect(out.write("one ü")).toBe(true);
  expect((await reader?.read())?.value).toBe("one ü");
  out.end("two");
  expect((await reader?.read())?.value).toBe("two");
  expect((await reader?.read())?.done).toBe(true);
  expect(out.write("three")).toBe(false);
});

test("an answer may take longer than a request", async () => {
  const { route, opened } = streaming();
  const go = Promise.withResolvers<void>();
  const unread: Route = {
    method: "POST",
    path: "/slow",
    handle: (request) => request.text().then(() => ({})),
  };
  const slow: Route = {
    method: "GET",
    path: "/slow",
    handle: async () => {
      await go.promise;
      return { text: "late" };
    },
  };
  const limits = { ...defaultLimits, handshakeMs: 500 };
  const { url, port } = await start({ routes: [route, slow, unread], limits });
  const late = fetch(`${url}/slow`);
  const response = await fetch(`${url}/stream`);
  const out = await opened;
  // A body that never comes has all the time a request has; when it is refused, ours has had more.
  const post = "POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n";
  expect(statusOf(await sendRaw(port, post))).toBe(408);
  out.end("still here");
  go.resolve();
  expect(await response.text()).toBe("still here");
  expect(await (await late).text()).toBe("late");
});

test("a client that leaves early is noticed; one that has all is not", async () => {
  const early = streaming();
  const { url } = await start({ routes: [early.route] });
  const leaving = new AbortController();
  await fetch(`${url}/stream`, { signal: leaving.signal });
  await early.opened;
  leaving.abort();
  await early.gone;

  let isGone = false;
  const whole = streaming();
  void whole.gone.then(() => {
    isGone = true;
  });
  const second = await start({ routes: [whole.route] });
  const response = await fetch(`${second.url}/stream`, { headers: { connection: "close" } });
  (await whole.opened).end("all");
  expect(await response.text()).toBe("all");
  await second.listener.close({ graceMs: 0 });
  expect(isGone).toBe(false);
});

test("a reader that stays behind is cut off, and one that catches up is not", async () => {
  const { route, opened, gone } = streaming();
  const limits = { ...defaultLimits, queueBytesMax: 1_000, queueStallMs: 500 };
  const { port } = await start({ routes: [route], limits });
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const out = await opened;
  const caughtUp = new Promise<void>((resolve) => out.onDrain(resolve));
  // More than the sockets of both sides take.
  const much = "x".repeat(20_000_000);
  expect(out.write(much)).toBe(false);
  socket.resume();
  await caughtUp;
  expect(out.write("still here")).toBe(true);
  socket.pause();
  expect(out.write(much)).toBe(false);
  await gone;
  await once(socket.resume(), "close");
  expect(lines).toEqual([]);
});

test("a flood is cut off before its time", async () => {
  const { route, opened, gone } = streaming();
  const limits = { ...defaultLimits, queueBytesMax: 1_000, queueStallMs: 60_000 };
  const { port } = await start({ routes: [route], limits });
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const out = await opened;
  for (let i = 0; i < 2_000; i += 1) out.write("x".repeat(10_000));
  await gone;
});

test("a route may take larger bodies than others, as text", async () => {
  const big: Route = {
    method: "POST",
    path: "/big",
    bodyBytesMax: 200_000,
    handle: async (request) => ({ body: [request.hasJson(), (await request.text()).length, request.origin] }),
  };
  const { url } = await start({ routes: [big] });
  const post = (body: string) =>
    fetch(`${url}/big`, { method: "POST", body, headers: { "content-type": "Application/JSON; a=b" } });
  expect(await (await post("x".repeat(200_000))).json()).toEqual([true, 200_000, url]);
  expect((await post("x".repeat(200_001))).status).toBe(413);
});

test("pages of configured origins may send MCP's headers, and see its session", async () => {
  const origin = "https://console.example";
  const { url } = await start({ origins: [origin] });
  const preflight = await fetch(`${url}/echo`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-headers": "Mcp-Session-Id, mcp-param-city,last-event-id, x-evil, cookie",
    },
  });
  expect(preflight.headers.get("access-control-allow-headers")).toBe(
    "authorization, content-type, mcp-session-id, mcp-param-city, last-event-id",
  );
  const response = await fetch(`${url}/hello`, { headers: { origin } });
  expect(response.headers.get("access-control-expose-headers")).toContain("mcp-session-id");
});
