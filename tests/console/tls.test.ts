// The console over real TLS: the cookie is bound to its host, and goes nowhere in plain.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { mcpx, scratch } from "../cli/support/mcpx-process.ts";
import { startGateway } from "./support/gateway.ts";
import { openScreen } from "./support/screen.ts";

let browser: Browser;
/** Browsers trust `localhost` without TLS too: this is a name as any other. */
const host = "console.example";

beforeAll(async () => {
  browser = await openBrowser([`--host-resolver-rules=MAP ${host} 127.0.0.1`]);
});
afterAll(() => browser.close());

/** Somebody else on another port of the same host, who reads what browsers bring along. */
async function listenInPlain(): Promise<{ url: string; cookies: string[] }> {
  const cookies: string[] = [];
  const server = createServer(({ headers }, response) => {
    cookies.push(headers.cookie ?? "");
    response.end("plain");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `http://${host}:${(server.address() as AddressInfo).port}/console/`, cookies };
}

interface Certified {
  home: string;
  /** As `mcpx cert server` gives it, for the configuration. */
  listen: { tls: { cert: string; key: string } };
}

async function certify(): Promise<Certified> {
  const home = scratch();
  const cert = async (...args: string[]) => {
    const { code, out } = await mcpx(["cert", ...args, "--json", "--data", join(home, "data")]);
    expect(code).toBe(0);
    return JSON.parse(out) as { config: Pick<Certified, "listen"> };
  };
  await cert("ca");
  const { config } = await cert("server", host);
  return { home, ...config };
}

/** What does the TLS in front of a gateway that has none. */
async function startProxy({ listen: { tls } }: Certified) {
  const target = { port: 0 };
  const proxy = createTlsServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, (client) => {
    const gateway = connect(target.port, "127.0.0.1");
    client.pipe(gateway).pipe(client);
    for (const socket of [client, gateway])
      socket.on("error", () => [client, gateway].map((one) => one.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const at = `${host}:${(proxy.address() as AddressInfo).port}`;
  return { at, target };
}

const secureBounds = { domain: host, path: "/", secure: true, httpOnly: true, sameSite: "Strict" };

test("[X0-9-2] over HTTPS Chromium keeps a __Host- cookie: secure, for no script, and never sent in plain", async () => {
  const { home, listen } = await certify();
  const settings = { listen: { ...listen, host: "127.0.0.1", hosts: [host] } };
  writeFileSync(join(home, "mcpx.json"), JSON.stringify(settings), { mode: 0o600 });
  const gateway = await startGateway(["--config", join(home, "mcpx.json")], { home });
  expect(gateway.link).toMatch(/^https:/);
  const link = gateway.link.replace("localhost", host);
  const { page, context } = await openScreen(browser, link, { ignoreHTTPSErrors: true });
  const servers = page.getByRole("navigation").getByRole("link", { name: "Servers" });
  await servers.waitFor();
  const name = `__Host-mcpx-console-${new URL(gateway.url).port}`;
  expect(await context.cookies()).toMatchObject([{ name, ...secureBounds }]);
  expect(await page.evaluate("document.cookie")).toBe("");
  await page.reload();
  await servers.waitFor();
  // The control: a cookie without these bounds is shown to whoever listens on another port.
  await context.addCookies([{ name: "bare", value: "1", domain: host, path: "/" }]);
  const other = await listenInPlain();
  await page.goto(other.url);
  expect(other.cookies[0]).toBe("bare=1");
  await page.goto(new URL(link).origin);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("You are not logged in").waitFor();
  expect((await context.cookies()).map((cookie) => cookie.name)).toEqual(["bare"]);
  await context.close();
}, 60_000);

test("[X0-9-2] behind a proxy that does the TLS it is the same, once the proxy's address is configured", async () => {
  const certified = await certify();
  const { at, target } = await startProxy(certified);
  const settings = { listen: { host: "127.0.0.1", hosts: [at], origins: [`https://${at}`] } };
  writeFileSync(join(certified.home, "mcpx.json"), JSON.stringify(settings), { mode: 0o600 });
  const gateway = await startGateway(["--config", join(certified.home, "mcpx.json")], {
    home: certified.home,
  });
  const { port } = new URL(gateway.url);
  target.port = Number(port);
  const link = gateway.link.replace(new URL(gateway.link).origin, `https://${at}`);
  const { page, context } = await openScreen(browser, link, { ignoreHTTPSErrors: true });
  const servers = page.getByRole("navigation").getByRole("link", { name: "Servers" });
  await servers.waitFor();
  const name = `__Host-mcpx-console-${at.split(":")[1]}`;
  expect(await context.cookies()).toMatchObject([{ name, ...secureBounds }]);
  await page.reload();
  await servers.waitFor();
  await context.close();
}, 60_000);

test("the control: in plain, on this machine, the cookie has neither", async () => {
  const gateway = await startGateway();
  const { context } = await openScreen(browser, gateway.link);
  const { port } = new URL(gateway.url);
  expect(await context.cookies(new URL("/console/api/session", gateway.link).href)).toMatchObject([
    { name: `mcpx-console-${port}`, secure: false, path: "/console", httpOnly: true },
  ]);
  await context.close();
}, 60_000);
