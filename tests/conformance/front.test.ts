// The front changes nothing the suite could see: a server whose names carry a prefix, which another front makes of the
// fixture, is judged like the fixture itself. What it adds and keeps is shown on a listener that writes down headers.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startFront } from "./front.ts";
import { type Mapping, prefixed, renaming } from "./rewrite.ts";
import { type Revision, runServerSuite } from "./run-suite.ts";
import { startFixture } from "./start-fixture.ts";

const name = prefixed("fixture.");
const uri: Mapping = {
  toServer: (value) => value.replace(/^test:/, "mounted+test:"),
  toClient: (value) => value.replace(/^mounted\+test:/, "test:"),
};

/** What a mount does: it knows only the names it gave, not those below. */
const mounting = ({ toServer, toClient }: Mapping): Mapping => ({
  toServer: (value) => (toClient(value) === value ? `unknown:${value}` : toClient(value)),
  toClient: toServer,
});

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function startMounted(): Promise<string> {
  const fixture = await startFixture("both");
  stops.push(fixture.stop);
  const rewrite = renaming({ name: mounting(name), uri: mounting(uri) });
  const mounted = await startFront({ target: fixture.url, rewrite });
  stops.push(mounted.stop);
  return mounted.url;
}

test("a prefixed server passes the legacy suite only behind the front", { timeout: 60_000 }, async () => {
  const url = await startMounted();
  const revision = "2025-11-25";
  expect((await runServerSuite({ url, revision })).passed).toBeLessThan(20);
  expect(await runServerSuite({ url, revision, rewrite: renaming({ name, uri }) })).toMatchObject({
    passed: 30,
    failed: [],
  });
});

test.for([
  "server-stateless",
  "http-header-validation",
  "resources-templates-read",
  "sep-2164-resource-not-found",
  "prompts-get-with-args",
  "completion-complete",
  "caching",
  "dns-rebinding-protection",
  "input-required-result-multi-round",
])("behind the front a prefixed server passes the modern scenario %s", async (scenario) => {
  const revision: Revision = "2026-07-28";
  const url = await startMounted();
  const result = await runServerSuite({ url, revision, scenario, rewrite: renaming({ name, uri }) });
  expect(result).toMatchObject({ passed: 1, failed: [], warnings: [] });
});

test("the front adds its headers, and leaves Host and Origin unless they are its own", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const headers = { authorization: "Bearer secret" };
  const front = await startFront({ target: `http://${host}/mcp`, headers });
  stops.push(front.stop);

  await fetch(front.url, { method: "POST", body: "{}", headers: { origin: new URL(front.url).origin } });
  await fetch(front.url, { method: "POST", body: "{}", headers: { origin: "http://evil.example.com" } });
  expect(seen).toMatchObject([
    { authorization: "Bearer secret", host, origin: `http://${host}` },
    { authorization: "Bearer secret", host, origin: "http://evil.example.com" },
  ]);
});
