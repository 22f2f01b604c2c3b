import { once } from "node:events";
import { connect } from "node:net";
import { defaultLimits, McpxError } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { createMetrics } from "../logging/metrics.ts";
import { errorOf, get, lines, routes, sendRaw, start, statusOf, upgrade } from "./listener-cases.ts";
import type { Route } from "./routes.ts";

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

  test("a handler that asks too late is told all the same that its client has left", async () => {
    const told: string[] = [];
    const late = Promise.withResolvers<void>();
    const leaving: Route = {
      method: "GET",
      path: "/leaving",
      handle: async (request) => {
        await new Promise<void>((resolve) => request.onGone(resolve));
        request.onGone(() => told.push("gone"));
        request.onDone(() => {
          told.push("done");
          late.resolve();
        });
        return {};
      },
    };
    const { port } = await start({ routes: [leaving] });
    const socket = connect(port, "127.0.0.1");
    socket.write(get("/leaving", ["Host: localhost"]), () => socket.resetAndDestroy());
    await late.promise;
    expect(told).toEqual(["gone", "done"]);
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
    expect(lines.join("")).toContain("listener-cases.ts");
    expect((await fetch(`${url}/hello`)).status).toBe(200);
  });

  test("cookies are each a header of their own", async () => {
    const handle = () => ({ text: "x", cookies: ["a=1; HttpOnly", "b=2"] });
    const { url } = await start({ routes: [{ method: "GET", path: "/cookies", handle }] });
    const { headers } = await fetch(`${url}/cookies`);
    expect(headers.getSetCookie()).toEqual(["a=1; HttpOnly", "b=2"]);
  });

  test("an answer that cannot be sent is a broken handler's too", async () => {
    const broken: Route[] = [
      { method: "GET", path: "/big", handle: () => ({ body: 1n }) },
      { method: "GET", path: "/header", handle: () => ({ headers: { "x-a": "a\r\nset-cookie: b" } }) },
    ];
    const { url } = await start({ routes: broken });
    expect((await fetch(`${url}/big`)).status).toBe(500);
    const response = await fetch(`${url}/header`);
    expect([response.status, response.headers.has("set-cookie")]).toEqual([500, false]);
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

  test("[B-FAIR-1] methods that nobody has make the metrics no longer, however many there are", async () => {
    const metrics = createMetrics();
    const { url } = await start({ metrics });
    const tried = ["DELETE", "PURGE", "LOCK", "UNLOCK", "REPORT", "M-SEARCH"].flatMap((method) =>
      ["/hello", "/stranger"].map((path) => fetch(`${url}${path}`, { method })),
    );
    expect((await Promise.all(tried)).map(({ status }) => status)).toEqual(Array(6).fill([405, 404]).flat());
    const counts = (await metrics.text()).match(/http_request_seconds_count.*/g);
    expect(counts?.sort()).toEqual([
      'http_request_seconds_count{route="/hello",method="other",status="405"} 6',
      'http_request_seconds_count{route="none",method="other",status="404"} 6',
    ]);
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
