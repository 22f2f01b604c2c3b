// Who mcpx is at an authorization server, and that nobody else hears of it.
import { createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startAuthorizationServer } from "./support/authorization-server.ts";
import { openStage, type Stage } from "./support/stage.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await openStage({
    clients: [{ client_id: "known", client_secret: "known-secret" }, { client_id: "public" }],
  });
});

afterEach(() => stage.stop());

const only = (method: string) => ({ metadata: { token_endpoint_auth_methods_supported: [method] } });

describe("a registration", () => {
  test("says what we are: native, public where that is possible, and wanting to be refreshed", async () => {
    await stage.request(stage.credentials());
    expect(stage.issuer.registrations).toMatchObject([
      {
        client_name: "mcpx",
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token"],
        token_endpoint_auth_method: "none",
      },
    ]);
  });

  test.each(["client_secret_basic", "client_secret_post", "none"])(
    "is used with %s where only that is taken",
    async (method) => {
      stage.issuer.behaviour = only(method);
      const credentials = stage.credentials();
      expect(await stage.request(credentials)).toBe(200);
      stage.issuer.tokens.clear();
      expect(await stage.request(credentials)).toBe(200);
      expect(stage.issuer.tokenRequests.map((request) => request.method)).toEqual([method, method]);
    },
  );

  test("is used again as long as its port is free, and made anew when it is not", async () => {
    const again = async () => {
      stage.issuer.tokens.clear();
      stage.issuer.revoke();
      expect(await stage.request(stage.credentials())).toBe(200);
    };
    await stage.request(stage.credentials());
    await again();
    expect(stage.issuer.registrations).toHaveLength(1);
    const port = Number(new URL(stage.issuer.authorizations[0]?.get("redirect_uri") ?? "").port);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    await again().finally(() => other.close());
    expect(stage.issuer.registrations).toHaveLength(2);
  });

  test("the authorization server has forgotten is made anew", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    stage.issuer.tokens.clear();
    stage.issuer.behaviour = { tokenFailure: { status: 401, body: '{"error":"invalid_client"}' } };
    await expect(stage.request(credentials)).rejects.toMatchObject({ code: "server_unauthorised" });
    stage.issuer.behaviour = {};
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.issuer.registrations.length).toBeGreaterThan(1);
  });
});

describe("other ways to be known", () => {
  test.each(["client_secret_basic", "client_secret_post"])(
    "a client of the operator's, with %s",
    async (method) => {
      stage.issuer.behaviour = only(method);
      const credentials = stage.credentials({ config: { clientId: "known", clientSecret: "known-secret" } });
      expect(await stage.request(credentials)).toBe(200);
      stage.issuer.tokens.clear();
      expect(await stage.request(credentials)).toBe(200);
      expect(stage.issuer.tokenRequests).toMatchObject([
        { clientId: "known", method },
        { grant: "refresh_token", clientId: "known", method },
      ]);
      expect(stage.issuer.registrations).toEqual([]);
      expect(JSON.stringify(await stage.store.read("s"))).not.toContain("known-secret");
    },
  );

  test("a client of the operator's without a secret", async () => {
    expect(await stage.request(stage.credentials({ config: { clientId: "public" } }))).toBe(200);
    expect(stage.issuer.tokenRequests).toMatchObject([{ clientId: "public", method: "none" }]);
  });

  test("tokens of one client are not used as another", async () => {
    await stage.request(stage.credentials());
    expect(await stage.credentials({ config: { clientId: "public" } }).headers()).toEqual({});
  });

  test("an address that describes us, where such are taken", async () => {
    const config = { clientMetadataUrl: "https://mcpx.example/client.json" };
    await stage.request(stage.credentials({ key: "a", config }));
    expect(stage.issuer.registrations).toHaveLength(1);
    stage.issuer.behaviour = { metadata: { client_id_metadata_document_supported: true } };
    expect(await stage.request(stage.credentials({ key: "b", config }))).toBe(200);
    expect(stage.issuer.registrations).toHaveLength(1);
    expect(stage.issuer.authorizations[1]?.get("client_id")).toBe("https://mcpx.example/client.json");
  });

  test("where nobody can register, the operator is told to", async () => {
    stage.issuer.behaviour = { metadata: { registration_endpoint: undefined } };
    await expect(stage.request(stage.credentials())).rejects.toMatchObject({
      code: "server_unauthorised",
      suggestion: expect.stringContaining("clientId"),
    });
    expect(stage.shown).toEqual([]);
  });
});

describe("a server that comes to trust another authorization server", () => {
  test("gets a new registration and new tokens; nothing of the old goes there", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    const old = await stage.store.read("s");
    const next = await startAuthorizationServer();
    try {
      stage.server.trusts = [next];
      expect(await stage.request(credentials)).toBe(200);
      expect(next.registrations).toHaveLength(1);
      expect(next.tokenRequests.map(({ grant }) => grant)).toEqual(["authorization_code"]);
      const seen = JSON.stringify([next.tokenRequests, next.authorizations.map(String)]);
      for (const secret of [old?.client.id, old?.tokens?.refresh, old?.tokens?.access])
        expect(seen).not.toContain(secret);
      expect((await stage.store.read("s"))?.issuer).toBe(next.issuer);
    } finally {
      await next.stop();
    }
  });

  test("is refused where the client is the operator's, until they say where it belongs", async () => {
    const next = await startAuthorizationServer({ clients: [{ client_id: "public" }] });
    try {
      const credentials = stage.credentials({ config: { clientId: "public" } });
      await stage.request(credentials);
      stage.server.trusts = [next];
      await expect(stage.request(credentials)).rejects.toMatchObject({
        code: "server_unauthorised",
        suggestion: expect.stringContaining(next.issuer),
      });
      expect(next.authorizations).toEqual([]);
      const told = stage.credentials({ config: { clientId: "public", issuer: next.issuer } });
      expect(await stage.request(told)).toBe(200);
    } finally {
      await next.stop();
    }
  });

  test("keeps its tokens as long as the old one is still among those it names", async () => {
    const next = await startAuthorizationServer();
    try {
      const credentials = stage.credentials();
      await stage.request(credentials);
      stage.issuer.tokens.clear();
      stage.server.trusts = [next, stage.issuer];
      expect(await stage.request(credentials)).toBe(200);
      expect(stage.shown).toHaveLength(1);
    } finally {
      await next.stop();
    }
  });
});
