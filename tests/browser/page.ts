// A page of its own origin with the client SDK in it, in a real Chromium.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";

export interface PageServer {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves an empty page and the SDK, or what else is named, as one module, bundled as an application would. */
export async function servePage(entry = "packages/client/src/index.ts"): Promise<PageServer> {
  const code = await bundle(entry);
  const files: Record<string, string> = {
    "/": '<!doctype html><title>room</title><script type="module" src="/page.js"></script>',
    "/page.js": 'import * as mcpx from "/client.js"; globalThis.mcpx = mcpx;',
    "/client.js": code,
  };
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    response.writeHead(Object.hasOwn(files, path) ? 200 : 404, {
      "content-type": path.endsWith(".js") ? "text/javascript" : "text/html",
      // What a careful site sends: nothing but its own scripts, connections wherever the test's gateway is.
      "content-security-policy":
        "default-src 'none'; script-src 'self'; connect-src http://127.0.0.1:* ws://127.0.0.1:*",
    });
    response.end(files[path]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function bundle(entry: string): Promise<string> {
  const root = join(import.meta.dirname, "../..");
  const bundled = await rolldown({
    input: join(root, entry),
    platform: "browser",
    resolve: { conditionNames: ["mcpx-source", "browser", "import", "default"] },
  });
  const { output } = await bundled.generate({ format: "esm", codeSplitting: false });
  await bundled.close();
  return output[0].code;
}

/** `more`: further arguments of the browser. */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });
}

/** A page of the origin; what goes wrong in it is collected. */
export async function openPage(browser: Browser, origin: string): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // Browsers ask for an icon by themselves.
    if (message.type() === "error" && !message.location().url.endsWith("/favicon.ico"))
      errors.push(message.text());
  });
  await page.goto(origin);
  await page.waitForFunction("globalThis.mcpx !== undefined");
  return { page, errors };
}
