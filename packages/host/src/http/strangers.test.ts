import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defaultLimits } from "@mcpx/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { createListener, type ListenerOptions } from "./listener.ts";
import { errorOf, get, lines, log, routes, sendRaw, start, statusOf, upgrade } from "./listener-cases.ts";
import type { Route } from "./routes.ts";
import { isFromLoopback } from "./strangers.ts";

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

  test("behind a proxy that does the TLS, a request knows where it was sent: its origin is configured", async () => {
    const where: Route = { method: "GET", path: "/where", handle: ({ origin }) => ({ text: origin }) };
    const { port } = await start({
      routes: [where],
      origins: [known],
      hosts: ["console.example", "other.example"],
    });
    const ask = async (host: string) =>
      (await sendRaw(port, get("/where", [`Host: ${host}`]))).split("\r\n\r\n")[1];
    expect(await ask("console.example")).toBe(known);
    // Controls: another port, another name.
    for (const host of ["console.example:81", "other.example", `localhost:${port}`]) {
      expect(await ask(host)).toBe(`http://${host}`);
    }
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

  test("each refused origin is logged once, and no more than twenty", async () => {
    lines.length = 0;
    const { port } = await start({ origins: [known] });
    const from = (origin: string) =>
      sendRaw(port, get("/hello", [`Host: localhost:${port}`, `Origin: ${origin}`]));
    const warnings = () => lines.filter((line) => line.includes("add it to listen.origins"));
    expect(statusOf(await from(known))).toBe(200);
    expect(warnings()).toEqual([]);
    for (const origin of ["http://page.example", "http://page.example"]) await from(origin);
    expect(warnings()).toEqual([expect.stringContaining("http://page.example")]);
    for (let n = 0; n < 30; n += 1) await from(`http://page-${n}.example`);
    expect(warnings()).toHaveLength(20);
  });

  test("two of them are a stranger's", async () => {
    const { port } = await start({ origins: [known] });
    const headers = ["Host: localhost", `Origin: ${known}`, "Origin: http://evil.example"];
    expect(statusOf(await sendRaw(port, get("/hello", headers)))).toBe(403);
  });

  test("behind many other headers it is still seen; where they are too many, nothing is", async () => {
    const { port } = await start();
    const origin = "Origin: http://evil.example";
    for (const count of [250, 300, 3_000]) {
      const headers = ["Host: localhost", ...Array(count).fill("a:")];
      const answers = [get("/hello", headers), get("/hello", [...headers, origin])];
      const [own, foreign] = await Promise.all(
        answers.map(async (text) => statusOf(await sendRaw(port, text))),
      );
      // Some releases of Node say it themselves.
      const tooMany = expect.toBeOneOf([400, 431]);
      expect([own, foreign], String(count)).toEqual(count === 250 ? [200, 403] : [tooMany, tooMany]);
    }
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
    const options = { port: 0, limits: defaultLimits, log };
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

  test("[X0-5.1-3] nor where others may come through a proxy that says nothing, whatever Host they write", async () => {
    const name = "console.example";
    const isLoopback = async (options: Partial<ListenerOptions>, host: string) => {
      const { port } = await start(options);
      const [, body] = (await sendRaw(port, get("/from", [`Host: ${host}`]))).split("\r\n\r\n");
      return JSON.parse(body ?? "").isLoopback;
    };
    for (const host of [name, "localhost", "127.0.0.1"]) {
      expect(await isLoopback({ hosts: [name], origins: [`https://${name}`] }, host)).toBe(false);
      expect(await isLoopback({ hosts: [name] }, host)).toBe(false);
    }
    // A proxy that writes our own address into Host needs no name.
    expect(await isLoopback({ origins: [`https://${name}`] }, "127.0.0.1")).toBe(false);
    // The control: nothing is configured.
    for (const host of ["localhost:1", "127.0.0.1", "[::1]"]) expect(await isLoopback({}, host)).toBe(true);
  });

  test("[X0-5.1-3] nor by a name that only happens to be ours", async () => {
    const rules = { host: "console.example", isTls: false, hosts: [], origins: [] };
    const server = createServer((raw, response) => response.end(String(isFromLoopback(raw, rules))));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ask = async (host: string) =>
      (await sendRaw(port, get("/", [`Host: ${host}`]))).split("\r\n\r\n")[1];
    expect(await ask("console.example")).toContain("false");
    expect(await ask("localhost")).toContain("true");
  });

  test("a port that is taken is an error of start", async () => {
    const { port } = await start();
    const second = createListener({ host: "127.0.0.1", port, limits: defaultLimits, log });
    await expect(second.start(routes)).rejects.toThrow("EADDRINUSE");
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
