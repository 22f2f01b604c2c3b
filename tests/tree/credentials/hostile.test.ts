// Servers and authorization servers that lie, and strangers at the redirect.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGuardedFetch } from "../../../packages/aggregator/src/oauth/guarded-fetch.ts";
import { listen } from "./support/site.ts";
import { openStage, type Stage } from "./support/stage.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

afterEach(() => stage.stop());

const refusal = (detail: string) => ({
  code: "server_unauthorised",
  detail: expect.stringContaining(detail),
});

describe("before anybody is asked", () => {
  test.each([
    ["a resource elsewhere", { resource: "https://elsewhere.example/mcp" }],
    ["a resource beside it", { resource: "RESOURCE/more" }],
  ])("a server that describes %s is not believed", async (_, { resource }) => {
    stage.server.description = { resource: resource.replace("RESOURCE", stage.server.url) };
    await expect(stage.request(stage.credentials())).rejects.toMatchObject(
      refusal("another resource than the server"),
    );
    expect(stage.issuer.authorizations).toEqual([]);
  });

  test.each([
    ["names another issuer", { issuer: "https://elsewhere.example" }, "issuer"],
    ["does not say it can PKCE", { code_challenge_methods_supported: undefined }, "PKCE"],
    ["knows only plain PKCE", { code_challenge_methods_supported: ["plain"] }, "PKCE"],
    ["sends people to a place without https", { authorization_endpoint: "http://as.example/authorize" }, ""],
    ["sends people to a script", { authorization_endpoint: "javascript:alert(1)" }, ""],
    ["takes secrets without https", { token_endpoint: "http://as.example/token" }, "without https"],
    ["registers without https", { registration_endpoint: "http://as.example/register" }, "without https"],
  ])("an authorization server that %s is not used", async (_, metadata, detail) => {
    stage.issuer.behaviour = { metadata };
    await expect(stage.request(stage.credentials())).rejects.toMatchObject(refusal(detail));
    expect(stage.shown).toEqual([]);
    expect(stage.issuer.registrations).toEqual([]);
  });

  test("a server that names another issuer than the configured one is refused", async () => {
    const credentials = stage.credentials({ config: { issuer: "https://mine.example" } });
    await expect(stage.request(credentials)).rejects.toMatchObject(refusal("than configured"));
  });
});

describe("the answer", () => {
  test.each([
    ["of another issuer", "https://elsewhere.example"],
    ["of an issuer spelt otherwise", "ISSUER/"],
    ["of nobody, where the issuer promised to say", undefined],
  ])("%s is refused before its code is used", async (_, iss) => {
    stage.issuer.behaviour = { iss: iss?.replace("ISSUER", stage.issuer.issuer) };
    await expect(stage.request(stage.credentials())).rejects.toMatchObject(refusal("issuer"));
    expect(stage.issuer.tokenRequests).toEqual([]);
  });

  test("of another issuer is not even believed when it refuses", async () => {
    stage.issuer.behaviour = { iss: "https://elsewhere.example", answer: { error: "access_denied" } };
    await expect(stage.request(stage.credentials())).rejects.toMatchObject(refusal("issuer"));
  });

  test("without an issuer is taken where none was promised", async () => {
    stage.issuer.behaviour = {
      iss: undefined,
      metadata: { authorization_response_iss_parameter_supported: undefined },
    };
    expect(await stage.request(stage.credentials())).toBe(200);
  });

  test("that the person refuses is told by its word alone", async () => {
    stage.issuer.behaviour = { answer: { error: "access_denied", error_description: "<b>evil</b>" } };
    await expect(stage.request(stage.credentials())).rejects.toMatchObject({
      detail: "the authorisation was refused: access_denied",
    });
    stage.issuer.behaviour = { answer: { error: "<b>evil</b>" } };
    await expect(stage.request(stage.credentials())).rejects.toMatchObject({
      detail: "the authorisation was refused: the authorization server sent no code",
    });
  });

  test("with another state, path, host or method changes nothing", async () => {
    const statuses: number[] = [];
    const credentials = stage.credentials({
      async authorise(url) {
        const redirect = new URL(url.searchParams.get("redirect_uri") ?? "");
        const query = `?code=evil&state=${"x".repeat(43)}&iss=${stage.issuer.issuer}`;
        const elsewhere = new URL(`/other?code=evil&state=${url.searchParams.get("state")}`, redirect);
        const right = `?code=evil&state=${url.searchParams.get("state")}`;
        for (const [address, init] of [
          [new URL(query, redirect), {}],
          [elsewhere, {}],
          [new URL(right, redirect), { method: "POST" }],
          [new URL(right, `http://localhost:${redirect.port}/callback`), {}],
        ] as const) {
          const status = await fetch(address, init).then(
            (response) => response.status,
            () => 404,
          );
          statuses.push(status);
        }
        await fetch(url);
      },
    });
    expect(await stage.request(credentials)).toBe(200);
    expect(statuses).toEqual([400, 404, 404, 404]);
    expect(stage.issuer.tokenRequests).toHaveLength(1);
  });

  test("that never comes ends the wait, and the listener", async () => {
    let redirect = "";
    const credentials = stage.credentials({
      authoriseTimeoutMs: 20,
      async authorise(url) {
        redirect = url.searchParams.get("redirect_uri") ?? "";
      },
    });
    await expect(stage.request(credentials)).rejects.toMatchObject(refusal("in time"));
    await expect(fetch(redirect)).rejects.toThrow();
  });

  test("nobody waits for when the person cannot even be told", async () => {
    const credentials = stage.credentials({ authorise: () => Promise.reject(new Error("no screen")) });
    await expect(stage.request(credentials)).rejects.toMatchObject({ code: "server_unauthorised" });
  });
});

describe("the token endpoint", () => {
  test.each([
    ["a kind nobody knows", '{"access_token":"x","token_type":"mac"}'],
    ["a token that would break a header", '{"access_token":"x\\r\\nX-Evil: 1","token_type":"Bearer"}'],
    ["no token", "{}"],
    ["no JSON", "<html>"],
    ["without end", `{"access_token":"${"x".repeat(70_000)}","token_type":"Bearer"}`],
  ])("that gives %s gives nothing", async (_, body) => {
    stage.issuer.behaviour = { tokenFailure: { status: 200, body } };
    const credentials = stage.credentials();
    await expect(stage.request(credentials)).rejects.toMatchObject({ code: "server_unauthorised" });
    expect(await credentials.headers()).toEqual({});
    expect(await stage.store.read("s")).toBeUndefined();
  });

  test("may repeat our secrets; the error does not", async () => {
    stage.issuer.behaviour = {
      clients: [],
      metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] },
      tokenFailure: { status: 400, body: "you sent $FORM" },
    };
    const config = { clientId: "public-id", clientSecret: "hush-hush", issuer: stage.issuer.issuer };
    stage.issuer.behaviour.metadata = {
      ...stage.issuer.behaviour.metadata,
      registration_endpoint: undefined,
    };
    const error = await stage
      .request(stage.credentials({ config, authorise: answerWith("code-hush") }))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "server_unauthorised" });
    const told = JSON.stringify(error, Object.getOwnPropertyNames(error)) + String((error as Error).cause);
    expect(told).not.toMatch(/hush/);
  });

  function answerWith(code: string) {
    return async (url: URL) => {
      const redirect = new URL(url.searchParams.get("redirect_uri") ?? "");
      redirect.search = String(
        new URLSearchParams({ code, state: url.searchParams.get("state") ?? "", iss: stage.issuer.issuer }),
      );
      await fetch(redirect);
    };
  }
});

describe("what a server's metadata points at", () => {
  const lookup = async (name: string) => {
    const known: Record<string, string[]> = {
      "mcp.example": ["203.0.113.5"],
      "inside.example": ["10.0.0.7"],
      "both.example": ["203.0.113.9", "127.0.0.1"],
      "here.example": ["127.0.0.1"],
      "intranet.example": ["10.0.0.8"],
    };
    return known[name] ?? [];
  };
  const from = (server: string) => createGuardedFetch({ server: new URL(server), lookup });

  test.each([
    "https://inside.example/",
    "https://both.example/",
    "https://here.example/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[::ffff:10.0.0.1]/",
    "http://127.0.0.1:1/",
    "http://localhost:1/",
  ])("%s is not asked for a server out in the world", async (url) => {
    await expect(from("https://mcp.example/")(url)).rejects.toMatchObject({ code: "server_unauthorised" });
  });

  test.each([
    "http://mcp.example/",
    "http://here.example/",
    "ftp://mcp.example/",
    "file:///etc/passwd",
    "data:,x",
  ])("%s is not asked at all", async (url) => {
    await expect(from("http://127.0.0.1/")(url)).rejects.toMatchObject({ code: "server_unauthorised" });
  });

  test("a server inside may point inside, but not at this machine", async () => {
    const guarded = from("https://intranet.example/");
    await expect(guarded("https://here.example/")).rejects.toMatchObject(refusal("more private network"));
    await expect(guarded("https://unknown.example/")).rejects.toMatchObject(refusal("cannot be reached"));
  });

  test("no redirect is followed to another place", async () => {
    const site = await listen({
      "GET /.well-known/oauth-authorization-server": () => ({
        status: 302,
        body: {},
        headers: { location: `${stage.issuer.issuer}/.well-known/oauth-authorization-server` },
      }),
    });
    try {
      stage.server.description = { authorization_servers: [site.url] };
      await expect(stage.request(stage.credentials())).rejects.toMatchObject({ code: "server_unauthorised" });
      expect(stage.shown).toEqual([]);
    } finally {
      await site.stop();
    }
  });

  test("an answer that does not come, or does not end, is not waited for", async () => {
    const site = await listen({
      "GET /silent": () => new Promise(() => {}),
      "GET /endless": () => ({ status: 200, body: "x".repeat(70_000) }),
    });
    try {
      const guarded = createGuardedFetch({ server: new URL(site.url), timeoutMs: 100 });
      await expect(guarded(`${site.url}/silent`)).rejects.toMatchObject(refusal("in time"));
      await expect(guarded(`${site.url}/endless`)).rejects.toMatchObject(refusal("is larger than"));
    } finally {
      await site.stop();
    }
  });
});
