import { expect, test } from "vitest";
import {
  accept,
  call,
  contentOf,
  events,
  json,
  openEndpoint,
  openSession,
  post,
  request,
  tool,
  until,
} from "./open-endpoint.ts";

const reasonOf = async (response: Response) =>
  ((await json(response)).error as { data?: { reason?: string } }).data?.reason;

test("without a token one is told where to get one", async () => {
  const endpoint = await openEndpoint({
    endpoint: { issuers: [{ issuer: "https://login.example" }, { issuer: "plain" }] },
  });
  const where = `${endpoint.origin}/.well-known/oauth-protected-resource/mcp`;
  for (const method of ["POST", "GET", "DELETE"]) {
    const response = await fetch(endpoint.url, { method });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe(`Bearer resource_metadata="${where}"`);
    expect(await json(response)).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { data: { reason: "unauthorised" } },
    });
  }
  const bad = await call({ ...endpoint, token: "x.y.z" }, "tools/list");
  expect(bad.headers.get("www-authenticate")).toContain('error="invalid_token"');
  for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
    expect(await (await fetch(endpoint.origin + path)).json()).toEqual({
      resource: endpoint.url,
      authorization_servers: ["https://login.example"],
      bearer_methods_supported: ["header"],
      resource_name: "mcpx",
    });
  }
});

test("behind a proxy the public address counts", async () => {
  const endpoint = await openEndpoint({ endpoint: { publicUrl: "https://mcpx.example/" } });
  const metadata = await (await fetch(`${endpoint.origin}/.well-known/oauth-protected-resource`)).json();
  expect(metadata).toMatchObject({ resource: "https://mcpx.example/mcp" });
});

test("profiles are addresses of their own, and names are as one asks", async () => {
  const profiles = new Map([["small", { name: "small", tools: ["a.*"], dialect: "strict" as const }]]);
  const endpoint = await openEndpoint({ endpoint: { profiles } });
  const who = async (path: string) => {
    const info = { "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" } };
    return JSON.parse(
      contentOf(
        await json(
          await call(
            { ...endpoint, url: endpoint.url + path },
            "tools/call",
            { name: "who" },
            { meta: info },
          ),
        ),
      ),
    );
  };
  expect(await who("")).toEqual(["alice", "modern", "safe", null]);
  expect(await who("/small")).toEqual(["alice", "modern", "strict", "small"]);
  expect(await who("/small?names=canonical")).toEqual(["alice", "modern", "canonical", "small"]);
  expect((await call({ ...endpoint, url: `${endpoint.url}?names=latin` }, "tools/list")).status).toBe(400);
  expect((await call({ ...endpoint, url: `${endpoint.url}/large` }, "tools/list")).status).toBe(404);
  // A session is of its address.
  const { headers } = await openSession({ ...endpoint, url: `${endpoint.url}/small` });
  expect((await post(endpoint, request(1, "ping"), headers)).status).toBe(404);
});

test("a revoked token ends its streams, calls and sessions at once", async () => {
  const endpoint = await openEndpoint();
  const { token, jti } = await endpoint.mint("bob");
  const bob = { ...endpoint, token };
  const listening = events(
    await call(bob, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
  );
  await listening.message();
  const { headers, send } = await openSession(bob);
  const slow = send(tool(1, "slow"));
  const stream = events(
    await fetch(endpoint.url, { headers: { ...headers, accept, authorization: `Bearer ${token}` } }),
  );
  await until(() => expect(endpoint.tree.exchanges).toHaveLength(1));
  await endpoint.identity.revocations.revoke(jti);
  expect(await listening.rest()).toMatchObject([{ error: { data: { reason: "token_revoked" } } }]);
  expect(await reasonOf(await slow)).toBe("token_revoked");
  expect(await stream.rest()).toEqual([]);
  expect(endpoint.tree.exchanges[0]?.signal.aborted).toBe(true);
  expect(endpoint.tree.left).toHaveLength(1);
  expect((await send(request(2, "ping"))).status).toBe(401);
  const again = { ...endpoint, token: (await endpoint.mint("bob")).token };
  expect((await post(again, request(2, "ping"), headers)).status).toBe(404);
});

test("an expired token ends what it opened; the session waits for the next one", async () => {
  const endpoint = await openEndpoint();
  const { token } = await endpoint.mint("bob", 1_000);
  const bob = { ...endpoint, token };
  const { headers, send } = await openSession(bob);
  const slow = send(tool(1, "slow"));
  const stream = events(
    await fetch(endpoint.url, { headers: { ...headers, accept, authorization: `Bearer ${token}` } }),
  );
  expect(await reasonOf(await slow)).toBe("token_expired");
  expect(await stream.rest()).toEqual([]);
  expect((await send(request(2, "ping"))).status).toBe(401);
  const again = { ...endpoint, token: (await endpoint.mint("bob")).token };
  expect((await post(again, request(2, "ping"), headers)).status).toBe(200);
});

test("draining lets what is under way finish, and takes nothing new", async () => {
  const endpoint = await openEndpoint();
  const { headers, send } = await openSession(endpoint);
  const slow = send(tool(1, "slow"));
  await until(() => expect(endpoint.tree.exchanges).toHaveLength(1));
  const drained = endpoint.endpoint.drain();
  const late = await send(request(2, "tools/list"));
  expect([late.status, late.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(
    (
      await fetch(endpoint.url, {
        headers: { ...headers, accept, authorization: `Bearer ${endpoint.token}` },
      })
    ).status,
  ).toBe(503);
  endpoint.tree.release();
  expect(contentOf(await json(await slow))).toBe("released");
  await drained;
  expect(endpoint.tree.left).toHaveLength(1);
});
