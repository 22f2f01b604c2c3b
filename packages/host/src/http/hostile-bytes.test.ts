import { defaultLimits } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { get, lines, sendRaw, start, statusOf } from "./listener-cases.ts";

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
    expect((await fetch(`${url}/hello`)).status).toBe(200);
    expect(statusOf(await slow)).toBe(408);
    await silent;
  });

  test("a body that never comes ends too", async () => {
    const { port } = await start({ limits: { ...defaultLimits, handshakeMs: 100 } });
    expect(statusOf(await sendRaw(port, `${head}Content-Length: 10\r\n\r\n{`))).toBe(408);
    expect(lines).toEqual([]);
  });
});
