// Clients that are described by a document at their id: read as it should be, and not believed otherwise.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { type Documents, serveDocuments } from "./support/documents.ts";
import {
  beginSignIn,
  type Client,
  codeFor,
  exchange,
  human,
  newClient,
  reach,
  redirect,
} from "./support/oauth-client.ts";

let server: TestServer;
let documents: Documents;
beforeAll(async () => {
  server = await startTestServer({ authorization: { clientHosts: ["localhost"] } });
  const described = (id: string, more = {}) =>
    JSON.stringify({
      client_id: id,
      client_name: "Documented",
      redirect_uris: [redirect],
      token_endpoint_auth_method: "none",
      ...more,
    });
  documents = await serveDocuments((id, path) => {
    const texts: Record<
      string,
      () => { status?: number; text: string; headers?: Record<string, string> } | undefined
    > = {
      "/good": () => ({ text: described(id) }),
      "/huge": () => ({ text: described(id, { client_uri: `https://x.example/${"x".repeat(70_000)}` }) }),
      "/slow": () => undefined,
      "/moved": () => ({ status: 302, text: "", headers: { location: "/good" } }),
      "/other": () => ({ text: described("https://app.example/client") }),
      "/secret": () => ({
        text: described(id, { client_secret: "x", token_endpoint_auth_method: "client_secret_post" }),
      }),
      "/plain": () => ({
        text: described(id, { application_type: "web", redirect_uris: ["http://evil.example/cb"] }),
      }),
      "/page": () => ({ text: "<html>" }),
    };
    return texts[path]?.() ?? { status: 404, text: "" };
  });
});
afterAll(async () => {
  await documents.close();
  await server.stop();
});

const begin = (client: Client, wish: Record<string, string | undefined>) => beginSignIn(server, client, wish);

const clientAt = (path: string) => ({ client_id: documents.at(path), redirect_uris: [redirect] });

test("a client that is described signs in without registering", async () => {
  const client = clientAt("/good");
  const { code, verifier } = await codeFor(server, client);
  const { status, body } = await exchange(server, client, { code, verifier });
  expect(status).toBe(200);
  expect(await reach(server, String(body.access_token))).toBe(200);
  const { browser, location } = await begin(client, {});
  const { body: shown } = await (await human(server, browser)).look(location);
  expect(shown.client).toMatchObject({ name: "Documented", host: new URL(documents.at("/")).host });
  // Read once, for a while.
  expect(documents.asked.filter((path) => path === "/good")).toHaveLength(1);
});

test("what is huge, slow, moved, another's, secret, in the clear or no document is no client", async () => {
  expect((await begin(clientAt("/good"), {})).isAsked).toBe(true);
  const paths = ["/huge", "/slow", "/moved", "/other", "/secret", "/plain", "/page", "/missing"];
  const tried = await Promise.all(
    paths.map((path) =>
      begin(clientAt(path), path === "/plain" ? { redirect_uri: "http://evil.example/cb" } : {}),
    ),
  );
  expect(tried.map(({ isAsked, status, location }) => [isAsked, status >= 400, location])).toEqual(
    paths.map(() => [false, true, ""]),
  );
});

test("nobody makes the gateway knock at addresses inside", async () => {
  const before = documents.asked.length;
  const port = new URL(documents.at("/")).port;
  for (const host of [
    `127.0.0.1:${port}`,
    `[::1]:${port}`,
    "169.254.169.254",
    "10.0.0.1",
    "192.168.0.1",
    "[fd00::1]",
  ]) {
    const { isAsked, status } = await begin({ client_id: `https://${host}/good` }, {});
    expect([isAsked, status >= 400], host).toEqual([false, true]);
  }
  expect(documents.asked.length).toBe(before);
  // The control: the same document, by the name that is configured.
  expect((await begin(clientAt("/good"), {})).isAsked).toBe(true);
});

test("where documents are switched off, clients are told so and register instead", async () => {
  await server.restart({ authorization: { clientDocuments: false, clientHosts: ["localhost"] } });
  const before = documents.asked.length;
  const described = await fetch(`${server.url}/.well-known/oauth-authorization-server`);
  expect(
    ((await described.json()) as Record<string, unknown>).client_id_metadata_document_supported,
  ).toBeUndefined();
  expect((await begin(clientAt("/good"), {})).isAsked).toBe(false);
  expect(documents.asked.length).toBe(before);
  expect((await begin(await newClient(server), {})).isAsked).toBe(true);
});
