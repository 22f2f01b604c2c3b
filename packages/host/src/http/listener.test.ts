import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { defaultLimits, McpxError } from "@mcpx/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { createLogger } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { bearerToken } from "./bearer.ts";
import { createListener, type Listener, type ListenerOptions } from "./listener.ts";
import type { Route } from "./routes.ts";

const listeners: Listener[] = [];
const lines: string[] = [];
const log = createLogger({ level: "warn", destination: { write: (line) => void lines.push(line) } });

const routes: Route[] = [
  { method: "GET", path: "/hello", handle: () => ({ body: { hello: "world" } }) },
  { method: "GET", path: "/text", handle: () => ({ text: "plain" }) },
  { method: "GET", path: "/topics/:topic", handle: ({ params }) => ({ body: params }) },
  { method: "POST", path: "/echo", handle: async (request) => ({ status: 201, body: await request.json() }) },
  { method: "DELETE", path: "/echo", handle: () => ({}) },
  { method: "GET", path: "/me", handle: (request) => ({ body: { token: bearerToken(request) } }) },
  {
    method: "GET",
    path: "/from",
    handle: ({ isLoopback, remoteAddress }) => ({ body: { isLoopback, remoteAddress } }),
  },
  {
    method: "GET",
    path: "/limited",
    handle: () => {
      throw new McpxError("rate_limited", "slowly", { retryAfterMs: 2_500 });
    },
  },
  {
    method: "GET",
    path: "/broken",
    handle: () => {
      throw new Error("the secret of the house");
    },
  },
];

async function start(options: Partial<ListenerOptions> = {}) {
  const listener = createListener({
    host: "127.0.0.1",
    port: 0,
    limits: defaultLimits,
    log,
    routes,
    ...options,
  });
  listeners.push(listener);
  const { url, port } = await listener.start();
  return { listener, url, port };
}

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close({ graceMs: 0 })));
  lines.length = 0;
});

/** Sends bytes as they are and gives back all that comes until the other side closes. */
async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => {});
  socket.write(text);
  await once(socket, "close");
  return received;
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const get = (path: string, headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${[...headers, "Connection: close"].join("\r\n")}\r\n\r\n`;
const upgrade = (path: string, headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${[...headers, "Connection: Upgrade", "Upgrade: websocket"].join("\r\n")}\r\n\r\n`;

async function errorOf(response: Response) {
  return ((await response.json()) as { error: Record<string, unknown> }).error;
}

describe("answers", () => {
  test("JSON, never cached, never sniffed", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/hello`);
    expect(await response.json()).toEqual({ hello: "world" });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
  });

  test("text, nothing, and a HEAD without its body", async () => {
    const { url } = await start();
    const text = await fetch(`${url}/text`);
    expect([await text.text(), text.headers.get("content-type")]).toEqual([
      "plain",
      "text/plain; charset=utf-8",
    ]);
    expect((await fetch(`${url}/echo`, { method: "DELETE" })).status).toBe(204);
    const head = await fetch(`${url}/hello`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("parameters come decoded; bad percent-encoding is a 400", async () => {
    const { url, port } = await start();
    expect(await (await fetch(`${url}/topics/room%3Aa%2Fb`)).json()).toEqual({ topic: "room:a/b" });
    for (const part of ["%", "%zz", "%ff", "%c0%af"]) {
      expect(statusOf(await sendRaw(port, get(`/topics/${part}`, ["Host: localhost"])))).toBe(400);
    }
  });

  test("unknown addresses and methods say so", async () => {
    const { url } = await start();
    const missing = await fetch(`${url}/nothing`);
    expect(missing.status).toBe(404);
    expect(await errorOf(missing)).toEqual({
      code: 40401,
      reason: "not_found",
      message: "Not found",
      suggestion: "Check the address",
    });
    const put = await fetch(`${url}/echo`, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
    expect((await fetch(`${url}/echo`, { method: "OPTIONS" })).status).toBe(405);
  });

  test("errors say when to come back", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/limited`);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3"]);
    expect((await errorOf(response)).message).toBe("Too many messages: slowly");
  });

  test("a broken handler gives nothing away, and is logged with its stack", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/broken`);
    expect(response.status).toBe(500);
    expect(JSON.stringify(await response.json())).not.toContain("secret");
    expect(lines.join("")).toContain("the secret of the house");
    expect(lines.join("")).toContain("listener.test.ts");
    expect((await fetch(`${url}/hello`)).status).toBe(200);
  });

  test("requests are measured by route, never by address", async () => {
    const metrics = createMetrics();
    const { url } = await start({ metrics });
    await fetch(`${url}/topics/one`);
    await fetch(`${url}/stranger/${"x".repeat(100)}`);
    const text = await metrics.text();
    expect(text).toContain(
      'mcpx_http_request_seconds_count{route="/topics/:topic",method="GET",status="200"} 1',
    );
    expect(text).toContain('mcpx_http_request_seconds_count{route="none",method="GET",status="404"} 1');
    expect(text).not.toContain("xxxx");
  });
});

describe("bodies", () => {
  const post = (url: string, body: string | Uint8Array<ArrayBuffer>, type = "application/json") =>
    fetch(`${url}/echo`, { method: "POST", body, headers: { "content-type": type } });

  test("JSON is read", async () => {
    const { url } = await start();
    const response = await post(url, '{"a":1}', "application/json; charset=utf-8");
    expect([response.status, await response.json()]).toEqual([201, { a: 1 }]);
  });

  test.each([
    ["not JSON", "{", "application/json", "bad_json"],
    ["empty", "", "application/json", "bad_json"],
    ["bad UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "application/json", "bad_utf8"],
    ["a form", "a=1", "application/x-www-form-urlencoded", "bad_request"],
    ["JSON called text, as a page may send it", "{}", "text/plain", "bad_request"],
  ])("%s is refused", async (_what, body, type, reason) => {
    const { url } = await start();
    const response = await post(url, body, type);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).reason).toBe(reason);
  });

  test("one byte too many is refused, announced or not", async () => {
    const { url, port } = await start({ limits: { ...defaultLimits, bodyBytesMax: 10 } });
    expect((await post(url, '"12345678"')).status).toBe(201);
    expect((await post(url, '"123456789"')).status).toBe(413);
    const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    // Refused from the announcement alone: not one byte of it was sent.
    expect(statusOf(await sendRaw(port, `${head}Content-Length: 1073741824\r\n\r\n`))).toBe(413);
    const chunk = `b\r\n"123456789"\r\n`;
    expect(statusOf(await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`))).toBe(413);
  });
});

describe("[X0-9-2] Host", () => {
  test.each([
    "localhost",
    "LOCALHOST:1234",
    "127.0.0.1",
    "127.0.0.1:6279",
    "[::1]:6279",
    "mcpx.test",
    "lan.test:81",
  ])("%s is served", async (host) => {
    const { port } = await start({ hosts: ["mcpx.test", "lan.test:81"] });
    expect(statusOf(await sendRaw(port, get("/hello", [`Host: ${host}`])))).toBe(200);
  });

  test.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "localhost@evil.example",
    "evil.example#localhost",
    "localhost:80:80",
    "127.1",
    "0.0.0.0",
    "192.168.1.7",
    "lan.test",
    "lan.test:82",
    "mcpx.test.",
    "",
  ])("%j is a stranger's: 421, upgrades too", async (host) => {
    const { listener, port } = await start({ hosts: ["mcpx.test", "lan.test:81"] });
    let upgrades = 0;
    listener.onUpgrade("/ws", (_request, socket) => {
      upgrades += 1;
      socket.destroy();
    });
    const answer = await sendRaw(port, get("/hello", [`Host: ${host}`]));
    expect(statusOf(answer)).toBe(421);
    expect(answer).toContain('"reason":"foreign_host"');
    expect(statusOf(await sendRaw(port, upgrade("/ws", [`Host: ${host}`])))).toBe(421);
    expect(upgrades).toBe(0);
  });

  test("none, or two, is a 400", async () => {
    const { port } = await start();
    expect(statusOf(await sendRaw(port, get("/hello", ["Accept: */*"])))).toBe(400);
    expect(statusOf(await sendRaw(port, get("/hello", ["Host: localhost", "Host: evil.example"])))).toBe(400);
    expect(statusOf(await sendRaw(port, "GET /hello HTTP/1.0\r\n\r\n"))).toBe(400);
  });

  test("an address as a proxy would send it is a 400", async () => {
    const { port } = await start();
    expect(statusOf(await sendRaw(port, get("http://evil.example/hello", ["Host: localhost"])))).toBe(400);
    expect(
      statusOf(await sendRaw(port, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")),
    ).toBe(400);
  });

  test("listening everywhere, the address the peer reached is served", async () => {
    const { port } = await start({ host: "0.0.0.0", insecure: true });
    expect(statusOf(await sendRaw(port, get("/hello", ["Host: 127.0.0.1"])))).toBe(200);
    expect(statusOf(await sendRaw(port, get("/hello", ["Host: 0.0.0.0"])))).toBe(421);
    expect(statusOf(await sendRaw(port, get("/hello", ["Host: 10.1.2.3"])))).toBe(421);
  });
});

describe("[X0-9-2] Origin", () => {
  const known = "https://console.example";

  test("none, our own and configured ones are served", async () => {
    const { port } = await start({ origins: [known] });
    const ask = async (...headers: string[]) =>
      statusOf(await sendRaw(port, get("/hello", [`Host: localhost:${port}`, ...headers])));
    expect(await ask()).toBe(200);
    expect(await ask(`Origin: http://localhost:${port}`)).toBe(200);
    expect(await ask(`Origin: ${known}`)).toBe(200);
    const standard = ["Host: localhost", "Origin: http://localhost"];
    expect(statusOf(await sendRaw(port, get("/hello", standard)))).toBe(200);
  });

  test.each([
    "http://evil.example",
    "https://console.example.evil",
    "http://console.example",
    "https://console.example:444",
    "https://localhost:PORT",
    "http://localhost",
    "http://127.0.0.1:PORT",
    "http://localhost:PORT/",
    "http://localhost:PORT@evil.example",
    "null",
    "",
    "file://",
    "https://console.example, http://evil.example",
  ])("%j is a stranger's: 403, upgrades too", async (pattern) => {
    const { listener, port } = await start({ origins: [known] });
    let upgrades = 0;
    listener.onUpgrade("/ws", (_request, socket) => {
      upgrades += 1;
      socket.destroy();
    });
    const headers = [`Host: localhost:${port}`, `Origin: ${pattern.replace("PORT", String(port))}`];
    const answer = await sendRaw(port, get("/hello", headers));
    expect(statusOf(answer)).toBe(403);
    expect(answer).toContain('"reason":"foreign_origin"');
    expect(answer.toLowerCase()).not.toContain("access-control");
    expect(statusOf(await sendRaw(port, upgrade("/ws", headers)))).toBe(403);
    expect(upgrades).toBe(0);
  });

  test("two of them are a stranger's", async () => {
    const { port } = await start({ origins: [known] });
    const headers = ["Host: localhost", `Origin: ${known}`, "Origin: http://evil.example"];
    expect(statusOf(await sendRaw(port, get("/hello", headers)))).toBe(403);
  });

  test("behind thousands of other headers it is still seen", async () => {
    const { port } = await start();
    const headers = ["Host: localhost", ...Array(3_000).fill("a:"), "Origin: http://evil.example"];
    expect(statusOf(await sendRaw(port, get("/hello", headers)))).toBe(403);
  });

  test("configured pages get CORS, preflight included", async () => {
    const { url } = await start({ origins: [known] });
    const preflight = await fetch(`${url}/echo`, { method: "OPTIONS", headers: { origin: known } });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      "access-control-allow-origin": known,
      "access-control-allow-methods": "POST, DELETE",
      "access-control-allow-headers": "authorization, content-type",
      vary: "origin",
    });
    const response = await fetch(`${url}/nothing`, { headers: { origin: known } });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([404, known]);
  });
});

describe("[X0-9-2] binding", () => {
  test("other addresses than loopback need TLS, or the word that allows it", () => {
    const options = { port: 0, limits: defaultLimits, log, routes };
    for (const host of [
      "0.0.0.0",
      "::",
      "192.168.1.7",
      "mcpx.example",
      "localhost.example",
      "127.example",
      "",
    ]) {
      expect(() => createListener({ ...options, host })).toThrow("listen.tls");
      createListener({ ...options, host, insecure: true });
    }
    for (const host of ["127.0.0.1", "127.0.0.2", "::1", "localhost"]) createListener({ ...options, host });
  });

  test("a request counts as from this machine only if nothing forwarded it", async () => {
    const { url } = await start();
    const from = async (headers: Record<string, string>) => (await fetch(`${url}/from`, { headers })).json();
    expect(await from({})).toEqual({ isLoopback: true, remoteAddress: "127.0.0.1" });
    for (const name of ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"]) {
      expect(await from({ [name]: "10.0.0.1" })).toEqual({ isLoopback: false, remoteAddress: "127.0.0.1" });
    }
  });

  test("a port that is taken is an error of start", async () => {
    const { port } = await start();
    const second = createListener({ host: "127.0.0.1", port, limits: defaultLimits, log, routes });
    await expect(second.start()).rejects.toThrow("EADDRINUSE");
    await second.close({ graceMs: 0 });
  });
});

describe("tokens", () => {
  test("[X0-5.1-3] no token is a 401 that says which kind is wanted", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/me`);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await fetch(`${url}/me`, { headers: { authorization: "Bearer abc" } })).status).toBe(200);
  });

  test("[X0-5.1-1] a token in the address is refused, with the reason, upgrades too", async () => {
    const { listener, url, port } = await start();
    listener.onUpgrade("/ws", (_request, socket) => void socket.destroy());
    for (const query of ["token=abc", "a=1&access_token=abc", "TOKEN=abc", "%74oken=abc"]) {
      const response = await fetch(`${url}/hello?${query}`);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).message).toContain("ends up in logs");
      expect(statusOf(await sendRaw(port, upgrade(`/ws?${query}`, ["Host: localhost"])))).toBe(400);
    }
    expect((await fetch(`${url}/hello?topic=a&ticket=b`)).status).toBe(200);
  });

  test("[X0-5.1-3] two Authorization headers are refused", async () => {
    const { port } = await start();
    const headers = ["Host: localhost", "Authorization: Bearer good", "Authorization: Bearer other"];
    expect(statusOf(await sendRaw(port, get("/me", headers)))).toBe(400);
  });
});

describe("hostile bytes", () => {
  const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const smuggled = "0\r\n\r\nGET /broken HTTP/1.1\r\nHost: localhost\r\n\r\n";

  test.each([
    ["both lengths", `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled}`],
    ["both lengths, swapped", `${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${smuggled}`],
    ["two lengths", `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`],
    ["an odd encoding", `${head}Transfer-Encoding: xchunked\r\n\r\n${smuggled}`],
    ["chunked, then something", `${head}Transfer-Encoding: chunked, identity\r\n\r\n${smuggled}`],
    ["a space before the colon", `${head}Content-Length : 2\r\n\r\n{}`],
    ["a folded header", `${head}X-A: 1\r\n Content-Length: 2\r\n\r\n{}`],
    ["bare line feeds", "GET /hello HTTP/1.1\nHost: localhost\n\n"],
    ["a bad chunk size", `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ["a null byte in a header", "GET /hello HTTP/1.1\r\nHost: localhost\r\nX: a\u0000b\r\n\r\n"],
    ["TLS at a plain port", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001"],
    ["HTTP/2 at an HTTP/1 port", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("%s: 400 and the connection ends", async (_what, bytes) => {
    const { port, url } = await start();
    const answer = await sendRaw(port, bytes);
    expect(statusOf(answer)).toBe(400);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    // Nothing smuggled was ever handled.
    expect(lines).toEqual([]);
    expect((await fetch(`${url}/hello`)).status).toBe(200);
  });

  test("huge headers are a 431", async () => {
    const { port } = await start();
    const answer = await sendRaw(port, get("/hello", ["Host: localhost", `X-Big: ${"x".repeat(17_000)}`]));
    expect(statusOf(answer)).toBe(431);
  });

  test("slow headers, and silence, end after the handshake time; others are served meanwhile", async () => {
    const { port, url } = await start({ limits: { ...defaultLimits, handshakeMs: 200 } });
    const slow = sendRaw(port, "GET /hello HTTP/1.1\r\nHost: local");
    const silent = sendRaw(port, "");
    const begun = performance.now();
    expect((await fetch(`${url}/hello`)).status).toBe(200);
    expect(statusOf(await slow)).toBe(408);
    await silent;
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  test("a body that never comes ends too", async () => {
    const { port } = await start({ limits: { ...defaultLimits, handshakeMs: 100 } });
    expect(statusOf(await sendRaw(port, `${head}Content-Length: 10\r\n\r\n{`))).toBe(408);
    expect(lines).toEqual([]);
  });
});

describe("upgrades", () => {
  test("the handler of the path takes over the socket", async () => {
    const { listener, port } = await start();
    listener.onUpgrade("/ws", (request, socket) => {
      expect(request.raw.headers.upgrade).toBe("websocket");
      socket.end(`HTTP/1.1 101 Switching\r\n\r\n${request.query.get("topic")}`);
    });
    const answer = await sendRaw(port, upgrade("/ws?topic=room%3Aa", ["Host: localhost"]));
    expect(answer).toBe("HTTP/1.1 101 Switching\r\n\r\nroom:a");
  });

  test("what it throws becomes an HTTP answer", async () => {
    const { listener, port } = await start();
    listener.onUpgrade("/ws", async () => {
      throw new McpxError("too_many_connections", undefined, { retryAfterMs: 5_000 });
    });
    const answer = await sendRaw(port, upgrade("/ws", ["Host: localhost"]));
    expect(statusOf(answer)).toBe(503);
    expect(answer).toContain("retry-after: 5\r\n");
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "").error.reason).toBe("too_many_connections");
    expect(statusOf(await sendRaw(port, upgrade("/other", ["Host: localhost"])))).toBe(404);
  });

  test("what it throws after it wrote ends the socket, with no HTTP inside the stream", async () => {
    const { listener, port } = await start();
    listener.onUpgrade("/ws", async (_request, socket) => {
      await new Promise((resolve) => socket.write("HTTP/1.1 101 Switching\r\n\r\n", resolve));
      throw new Error("late");
    });
    const answer = await sendRaw(port, upgrade("/ws", ["Host: localhost"]));
    expect(answer).toBe("HTTP/1.1 101 Switching\r\n\r\n");
    expect(lines.join("")).toContain("late");
  });

  test("a peer that resets while the handler thinks harms nobody", async () => {
    const { listener, port, url } = await start();
    const thinking = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    listener.onUpgrade("/ws", async (_request, socket) => {
      socket.once("close", () => gone.resolve());
      thinking.resolve();
      await gone.promise;
      throw new McpxError("unauthorised");
    });
    const peer = connect(port, "127.0.0.1");
    peer.on("error", () => {});
    peer.write(upgrade("/ws", ["Host: localhost"]));
    await thinking.promise;
    peer.resetAndDestroy();
    await gone.promise;
    expect((await fetch(`${url}/hello`)).status).toBe(200);
  });

  test("another protocol than WebSocket is an ordinary request; a plain request there is told", async () => {
    const { listener, port, url } = await start();
    listener.onUpgrade("/ws", (_request, socket) => void socket.destroy());
    const headers = ["Host: localhost", "Upgrade: h2c", "Connection: Upgrade, close"];
    expect(statusOf(await sendRaw(port, `GET /hello HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`))).toBe(200);
    const plain = await fetch(`${url}/ws`);
    expect(plain.status).toBe(400);
    expect((await errorOf(plain)).message).toContain("WebSocket");
  });
});

describe("the end", () => {
  test("what is under way is finished, nothing new is taken, and idle connections end", async () => {
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const slow: Route = {
      method: "GET",
      path: "/slow",
      handle: async () => {
        begun.resolve();
        await go.promise;
        return { body: "done" };
      },
    };
    const { listener, port, url } = await start({ routes: [...routes, slow] });
    const idle = connect(port, "127.0.0.1");
    idle.write("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(idle, "data");
    const answer = fetch(`${url}/slow`);
    await begun.promise;
    const closed = listener.close({ graceMs: 10_000 });
    await once(idle, "close");
    await expect(fetch(`${url}/hello`)).rejects.toThrow();
    go.resolve();
    const response = await answer;
    expect([await response.json(), response.headers.get("connection")]).toEqual(["done", "close"]);
    await closed;
  });

  test("after the grace every connection ends, upgraded ones too", async () => {
    const { listener, port } = await start();
    const taken = Promise.withResolvers<void>();
    listener.onUpgrade("/ws", (_request, socket) => {
      socket.write("HTTP/1.1 101 Switching\r\n\r\n");
      taken.resolve();
    });
    const open = sendRaw(port, upgrade("/ws", ["Host: localhost"]));
    const half = sendRaw(port, "GET /hello HTTP/1.1\r\nHost: lo");
    await taken.promise;
    await listener.close({ graceMs: 20 });
    await Promise.all([open, half]);
  });
});

test("a client that keeps its connection is served again and again", async () => {
  const { port } = await start();
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8");
  for (let i = 0; i < 30; i += 1) {
    socket.write("GET /from HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const [chunk] = await once(socket, "data");
    expect(statusOf(chunk)).toBe(200);
  }
  expect(lines).toEqual([]);
  socket.destroy();
});

test("node's own client agrees", async () => {
  const { port } = await start();
  const request = httpRequest({ host: "127.0.0.1", port, path: "/hello", agent: false });
  request.end();
  const [response] = await once(request, "response");
  expect(response.statusCode).toBe(200);
  response.resume();
});
