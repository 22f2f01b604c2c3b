// Logging in with a passkey: whom it lets in, and everything that does not.
import { readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { ApproverStore } from "@mcpx/aggregator";
import { type Audit, createManualClock, type HttpRequest } from "@mcpx/host";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Passkey } from "../../packages/aggregator/src/gates/proofs/passkey.ts";
import { softPasskey } from "../../packages/aggregator/src/gates/testing/soft-passkey.ts";
import { softRegistration } from "../../packages/aggregator/src/gates/testing/soft-registration.ts";
import { createAttempts } from "../../packages/cli/src/console/passkeys/attempts.ts";
import { createChallenges } from "../../packages/cli/src/console/passkeys/challenges.ts";
import { createPasskeyRegistration } from "../../packages/cli/src/console/passkeys/register.ts";
import { createSingleUse } from "../../packages/cli/src/console/passkeys/single-use.ts";
import { openBrowser } from "../browser/page.ts";
import { plugIn } from "../browser/support/authenticator.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { enrolled } from "./support/passkey-visitor.ts";
import { openScreen } from "./support/screen.ts";
import { loginPath, type Visitor, visit, visitBy } from "./support/visitor.ts";

let server: TestServer;
const slow = { timeout: 60_000 };
const reasonOf = ({ body }: { body: Record<string, unknown> }) =>
  (body.error as { reason?: string } | undefined)?.reason;

async function loginsOn(record: TestServer): Promise<string[]> {
  const { body } = await record.call("GET", "/admin/audit?action=console.login", await record.adminToken());
  const { records } = body as unknown as { records: { action: string; reason: string | null }[] };
  return records.filter(({ action }) => action === "console.login").map(({ reason }) => reason ?? "ok");
}

describe("over HTTP", () => {
  beforeEach(async () => {
    server = await startTestServer();
  });
  afterEach(() => server.stop());

  test("[X1-8-1] a passkey made at the console logs in, and is on record", async () => {
    const anna = enrolled(server);
    const login = await anna.logIn();
    expect(login).toMatchObject({
      status: 200,
      body: { half: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) },
    });
    expect(login.setCookie).toMatch(/; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    expect(await anna.session(login)).toBe(200);
    expect(await loginsOn(server)).toEqual(["ok"]);
    // What it has counted is kept.
    const { passkey, mayLogIn } = JSON.parse(
      readFileSync(join(server.dataDir, "approvers/anna.json"), "utf8"),
    );
    expect([passkey.counter, mayLogIn]).toEqual([1, true]);
    // One without the other opens nothing, as with every login.
    expect(await anna.session({ ...login, body: { half: "A".repeat(43) } })).toBe(401);
    expect(await anna.session({ ...login, setCookie: "" })).toBe(401);
    // The passkey in the cookie is part of what is signed.
    const swapped = login.setCookie.replace(/(\d{13}\.)[A-Za-z0-9_-]{43}\./, `$1${"A".repeat(43)}.`);
    const left = login.setCookie.replace(/(\d{13}\.)[A-Za-z0-9_-]{43}\./, "$1");
    expect(swapped).not.toBe(login.setCookie);
    for (const setCookie of [swapped, left]) expect(await anna.session({ ...login, setCookie })).toBe(401);
    const out = await anna.session(login, "/console/api/logout", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(out).toBe(200);
    expect(await anna.session(login)).toBe(401);
  });

  test("the options say nothing about who there is", async () => {
    const anna = enrolled(server);
    const { body } = await anna.options();
    expect(Object.keys(body).sort()).toEqual(
      ["allowCredentials", "challenge", "rpId", "ticket", "timeout", "userVerification"].sort(),
    );
    expect(body).toMatchObject({ rpId: "localhost", userVerification: "required", allowCredentials: [] });
    const other = await anna.options();
    expect(other.body.challenge).not.toBe(body.challenge);
  });

  const attacks: [string, string, (server: TestServer) => Promise<{ body: Record<string, unknown> }>][] = [
    [
      "an assertion that was used",
      "ticket_invalid",
      async (server) => {
        const anna = enrolled(server);
        const { given } = await anna.options();
        const body = { ticket: given.ticket, credential: await anna.sign({ challenge: given.challenge }) };
        expect((await anna.send(body)).status).toBe(200);
        return anna.send(body);
      },
    ],
    [
      "an assertion that was used, with a new ticket",
      "bad_proof",
      async (server) => {
        const anna = enrolled(server);
        const { given } = await anna.options();
        const credential = await anna.sign({ challenge: given.challenge });
        expect((await anna.send({ ticket: given.ticket, credential })).status).toBe(200);
        return anna.send({ ticket: (await anna.options()).given.ticket, credential });
      },
    ],
    [
      "the challenge of another login",
      "bad_proof",
      async (server) => {
        const anna = enrolled(server);
        const [first, second] = [(await anna.options()).given, (await anna.options()).given];
        const credential = await anna.sign({ challenge: second.challenge });
        return anna.send({ ticket: first.ticket, credential });
      },
    ],
    ["a challenge of one's own", "bad_proof", (server) => enrolled(server).logIn({ challenge: "AAAA" })],
    [
      "no ticket",
      "ticket_invalid",
      async (server) => {
        const anna = enrolled(server);
        const { challenge } = (await anna.options()).given;
        return anna.send({ credential: await anna.sign({ challenge }) });
      },
    ],
    [
      "an assertion made at another origin",
      "bad_proof",
      (server) => enrolled(server).logIn({ origin: "http://evil.example" }),
    ],
    [
      "an assertion made at another port of this machine",
      "bad_proof",
      (server) => enrolled(server).logIn({ origin: "http://localhost:1" }),
    ],
    ["another rpId", "bad_proof", (server) => enrolled(server).logIn({ rpId: "evil.example" })],
    ["inside another page", "bad_proof", (server) => enrolled(server).logIn({ crossOrigin: true })],
    ["no user verification", "bad_proof", (server) => enrolled(server).logIn({ flags: 1 })],
    ["nobody present", "bad_proof", (server) => enrolled(server).logIn({ flags: 4 })],
    ["a registration instead", "bad_proof", (server) => enrolled(server).logIn({ type: "webauthn.create" })],
    [
      "a count that does not go on",
      "bad_proof",
      async (server) => {
        const anna = enrolled(server);
        expect((await anna.logIn({ counter: 5 })).status).toBe(200);
        return anna.logIn({ counter: 5 });
      },
    ],
    [
      "the passkey of somebody who was removed",
      "bad_proof",
      async (server) => {
        enrolled(server, { name: "ben" });
        const anna = enrolled(server);
        const { given } = await anna.options();
        const credential = await anna.sign({ challenge: given.challenge });
        anna.remove();
        return anna.send({ ticket: given.ticket, credential });
      },
    ],
    [
      "a passkey that was enrolled for gates only",
      "bad_proof",
      (server) => {
        enrolled(server, { name: "ben" });
        return enrolled(server, { mayLogIn: false }).logIn();
      },
    ],
    [
      "a passkey whose mark is not true but something",
      "bad_proof",
      (server) => {
        enrolled(server, { name: "ben" });
        return enrolled(server, { mayLogIn: "true" }).logIn();
      },
    ],
    [
      "a passkey that was made for another address",
      "bad_proof",
      (server) => {
        enrolled(server, { name: "ben" });
        const elsewhere = { origin: "http://localhost:1" };
        return enrolled(server, elsewhere).logIn(elsewhere);
      },
    ],
    [
      "the key of somebody else under one's own name",
      "bad_proof",
      async (server) => {
        const anna = enrolled(server);
        const thief = enrolled(server, { name: "ben", mayLogIn: false });
        const { given } = await anna.options();
        const stolen = (await thief.sign({ challenge: given.challenge })) as { response: object };
        const own = (await anna.sign({ challenge: given.challenge })) as { id: string };
        return anna.send({ ticket: given.ticket, credential: { id: own.id, response: stolen.response } });
      },
    ],
  ];

  test.each(attacks)("[AX-11.3-2] %s lets nobody in", async (_, reason, attack) => {
    const answer = await attack(server);
    expect(reasonOf(answer)).toBe(reason);
    expect(answer).toMatchObject({ setCookie: "" });
    expect(await loginsOn(server)).toContain(reason);
    // The control: somebody who is let in, at the same gateway, right after.
    const carl = enrolled(server, { name: "carl" });
    expect(await carl.session(await carl.logIn())).toBe(200);
  });

  test.each([
    ["another site", { origin: "http://evil.example" }],
    ["another port", { origin: "http://localhost:1" }],
    ["a page of the same site", { "sec-fetch-site": "same-site" }],
  ])("[X0-9-2] %s can begin and end no login", async (_, headers) => {
    const anna = enrolled(server);
    expect(await anna.options(headers)).toMatchObject({ status: 403 });
    const { given } = await anna.options();
    const body = { ticket: given.ticket, credential: await anna.sign({ challenge: given.challenge }) };
    expect(await anna.send(body, headers)).toMatchObject({ status: 403, setCookie: "" });
    // It was not even looked at: the very same is good at the page itself.
    expect((await anna.send(body)).status).toBe(200);
  });

  test("what is no assertion at all is refused, and nothing breaks", async () => {
    const anna = enrolled(server);
    const bodies = [{}, { ticket: 7 }, { ticket: "x".repeat(10_000) }, { ticket: [], credential: null }];
    for (const body of bodies) expect(reasonOf(await anna.send(body))).toBe("ticket_invalid");
    const { given } = await anna.options();
    const large = { ticket: given.ticket, credential: { id: "x".repeat(70_000) } };
    expect((await anna.send(large)).status).toBe(413);
    const odd = { id: {}, response: { clientDataJSON: 7 } };
    expect(reasonOf(await anna.send({ ticket: given.ticket, credential: odd }))).toBe("bad_proof");
    expect((await anna.logIn()).status).toBe(200);
  });

  test("it is not offered where nobody could use it", async () => {
    const offered = async () => {
      const { origin } = anna;
      const headers = { origin, "content-type": "application/json" };
      const response = await fetch(`${origin}/console/login/offer`, {
        method: "POST",
        headers,
        body: "{}",
      });
      return ((await response.json()) as { passkey: unknown }).passkey;
    };
    const anna = enrolled(server, { mayLogIn: false });
    expect(await offered()).toBe(false);
    expect(reasonOf(await anna.options())).toBe("not_found");
    const ben = enrolled(server, { name: "ben" });
    expect(await offered()).toBe(true);
    ben.remove();
    expect(await offered()).toBe(false);
  });

  test("who tries too often is told to wait; others are not", async () => {
    const anna = enrolled(server);
    const { given } = await anna.options();
    // Asking takes nothing from anybody, however often somebody at the same address does it.
    for (let count = 0; count < 300; count += 1) expect((await anna.options()).status).toBe(200);
    const credential = await anna.sign({ challenge: given.challenge });
    expect((await anna.send({ ticket: given.ticket, credential })).status).toBe(200);
    // Nor does logging in.
    for (let count = 2; count < 24; count += 1)
      expect((await anna.logIn({ counter: count })).status).toBe(200);
    for (let count = 0; count < 20; count += 1) expect((await anna.send({})).status).toBe(401);
    expect(await anna.send({})).toMatchObject({ status: 429 });
    const clock = createManualClock();
    const attempts = createAttempts(clock);
    for (let count = 0; count < 20; count += 1) attempts.count("a");
    expect(() => attempts.count("a")).toThrow(/too many attempts/);
    attempts.count("b");
    attempts.forgive("a");
    attempts.count("a");
    expect(() => attempts.count("a")).toThrow(/too many attempts/);
    clock.advance(60_001);
    attempts.count("a");
  });

  test("[X0-9-4] a challenge is good once, for a while, and never again because there are many", () => {
    const clock = createManualClock();
    const challenges = createChallenges(clock, { lifeMs: 1_000, triedMax: 2 });
    const [one, two, three, old] = Array.from({ length: 4 }, () => challenges.make());
    expect(challenges.take(one?.ticket)).toBe(one?.challenge);
    expect(challenges.take(one?.ticket)).toBeUndefined();
    expect(challenges.take(two?.ticket)).toBe(two?.challenge);
    expect(() => challenges.take(three?.ticket)).toThrow(/too many attempts/);
    expect(challenges.take(one?.ticket)).toBeUndefined();
    clock.advance(1_001);
    expect(challenges.take(old?.ticket)).toBeUndefined();
    const young = challenges.make();
    const longer = young.ticket.replace(/\.(\d+)\./, (_, end) => `.${Number(end) + 1}.`);
    const foreign = createChallenges(clock, { lifeMs: 1_000, triedMax: 2 }).make();
    for (const wrong of [longer, foreign.ticket, "", 7, undefined]) {
      expect(challenges.take(wrong)).toBeUndefined();
    }
    expect(challenges.take(young.ticket)).toBe(young.challenge);
  });

  test("[X0-9-4] what was begun is kept for a while, once, and not without end", () => {
    const clock = createManualClock();
    const kept = createSingleUse<number>(clock, { lifeMs: 1_000, countMax: 2 });
    kept.keep("a", 1);
    expect([kept.take("a"), kept.take("a")]).toEqual([1, undefined]);
    kept.keep("a", 1);
    clock.advance(1_001);
    expect(kept.take("a")).toBeUndefined();
    for (const [key, value] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const)
      kept.keep(key, value);
    expect([kept.take("a"), kept.take("b"), kept.take("c")]).toEqual([undefined, 2, 3]);
  });

  test("taking a passkey back ends its sessions and their tokens, and nobody else's", async () => {
    const anna = enrolled(server);
    const ben = enrolled(server, { name: "ben" });
    const [annas, bens] = [await anna.logIn(), await ben.logIn()];
    const visitor = await visit(server);
    const roomToken = async ({ setCookie, body }: typeof annas) => {
      const response = await fetch(`${anna.origin}/console/api/room-token`, {
        method: "POST",
        headers: {
          origin: anna.origin,
          cookie: setCookie.split(";")[0] ?? "",
          "x-mcpx-console": String(body.half),
          "content-type": "application/json",
        },
        body: '{"tab":"t1"}',
      });
      return String(((await response.json()) as { token: string }).token);
    };
    const [annasToken, bensToken] = [await roomToken(annas), await roomToken(bens)];
    const ticketWith = (token: string) => server.call("POST", "/v0/tickets", token, { topic: "x" });
    expect((await ticketWith(annasToken)).status).toBe(201);
    anna.remove();
    expect(await anna.session(annas)).toBe(401);
    // Also where nobody asks for anything with that login any more.
    await expect.poll(async () => (await ticketWith(annasToken)).status).toBe(401);
    expect((await ticketWith(bensToken)).status).toBe(201);
    expect(await ben.session(bens)).toBe(200);
    expect((await visitor.call("GET", "/console/api/session")).status).toBe(200);
    // A restart brings nothing back.
    await server.restart();
    expect([await anna.session(annas), await ben.session(bens)]).toEqual([401, 200]);
  });

  /** Somebody at the console who is there with a passkey, or by a link. */
  const at = (origin: string, cookie: string, half: string) => {
    const headers = { origin, cookie, "x-mcpx-console": half, "content-type": "application/json" };
    const call = async (path: string, body: object, method = "POST") => {
      const response = await fetch(`${origin}${path}`, { method, headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    return { call, headers };
  };

  test("taking a passkey back also ends logins by links that its logins have made", async () => {
    const anna = enrolled(server);
    const ben = enrolled(server, { name: "ben" });
    const visitorsOf = async (one: typeof anna) => {
      const { setCookie, body } = await one.logIn();
      const inside = at(one.origin, setCookie.split(";")[0] ?? "", String(body.half));
      const link = async (call: typeof inside.call) =>
        `${one.origin}${(await call("/console/api/admin/console-links", {})).body.path}`;
      const second = await visitBy(await link(inside.call));
      const { body: made } = await second.call("POST", "/console/api/admin/console-links", { body: {} });
      return { second, third: await visitBy(`${one.origin}${made.path}`), unused: await link(inside.call) };
    };
    const [annas, bens] = [await visitorsOf(anna), await visitorsOf(ben)];
    const statusOf = async (visitor: Visitor) => (await visitor.call("GET", "/console/api/session")).status;
    expect([await statusOf(annas.second), await statusOf(annas.third)]).toEqual([200, 200]);
    anna.remove();
    expect([await statusOf(annas.second), await statusOf(annas.third)]).toEqual([401, 401]);
    expect(await statusOf(await visitBy(annas.unused))).toBe(401);
    expect([await statusOf(bens.second), await statusOf(bens.third)]).toEqual([200, 200]);
    expect(await statusOf(await visitBy(bens.unused))).toBe(200);
  });

  test.each([
    ["/console/api/tokens", { id: "late", topics: ["x"], ttlMs: 60_000 }, 201],
    ["/console/api/room-token", { tab: "t1" }, 201],
    ["/console/api/admin/console-links", {}, 201],
    ["/console/api/admin/panic", { on: true }, 200],
  ])("[X0-9-2] who is taken back while the body of %s comes has done nothing", async (path, body, done) => {
    const anna = enrolled(server);
    const login = async (counter: number) => {
      const { setCookie, body: given } = await anna.logIn({ counter });
      return at(anna.origin, setCookie.split(";")[0] ?? "", String(given.half)).headers;
    };
    const slowly = async (counter: number, meanwhile: () => void) => {
      const headers = await login(counter);
      const text = JSON.stringify(body);
      return await new Promise<number>((resolve, reject) => {
        const sent = request(`${anna.origin}${path}`, {
          method: "POST",
          headers: { ...headers, "content-length": Buffer.byteLength(text), expect: "100-continue" },
        });
        sent.on("error", reject);
        sent.on("response", (response) => resolve(response.resume().statusCode ?? 0));
        // Its head was read, and whoever it comes from was let in.
        sent.on("continue", () => {
          sent.write(text.slice(0, 1));
          fetch(`${anna.origin}/console/api/session`, { headers }).then(() => {
            meanwhile();
            sent.end(text.slice(1));
          }, reject);
        });
        sent.flushHeaders();
      });
    };
    // The control.
    expect(await slowly(1, () => {})).toBe(done);
    await server.forgetApprovers();
    await server.callHere("POST", "/admin/panic", { on: false });
    expect(await slowly(2, anna.remove)).toBe(401);
    const { body: gates } = await server.call("GET", "/admin/gates", await server.adminToken());
    expect(gates).toMatchObject({ panic: false });
  });

  test.each([
    [
      "the credential id",
      "ann",
      (own: Passkey, others: Passkey) => ({ ...own, credentialId: others.credentialId }),
    ],
    ["the public key", "ann", (own: Passkey, others: Passkey) => ({ ...own, publicKey: others.publicKey })],
    ["a name that looks like that", "Anna", (own: Passkey) => own],
  ])("[AX-11.3-2] at the console nobody registers with %s of another approver", async (_, name, wish) => {
    const anna = enrolled(server);
    const others = JSON.parse(readFileSync(join(server.dataDir, "approvers/anna.json"), "utf8")).passkey;
    const visitor = await visitBy(`${anna.origin}${await loginPath(server)}`);
    const register = async (as: string, passkey: Passkey) => {
      const { body, status } = await visitor.call("POST", "/console/api/passkeys/options", {
        body: { name: as },
      });
      if (status !== 200) return status;
      const { credentialId, publicKey } = passkey;
      const wanted = { credentialId, publicKey, challenge: String(body.challenge), origin: anna.origin };
      const credential = softRegistration(wanted);
      return (await visitor.call("POST", "/console/api/passkeys", { body: { credential } })).status;
    };
    expect(await register(name, wish(softPasskey().passkey, others))).toBe(409);
    expect((await anna.logIn()).status).toBe(200);
    // The control.
    expect(await register("zoe", softPasskey().passkey)).toBe(201);
    expect((await anna.logIn({ counter: 2 })).status).toBe(200);
  });

  test("who is logged out while a registration is looked at has registered nothing", async () => {
    const ended = new Set<string>();
    const added: string[] = [];
    const desk = createPasskeyRegistration({
      gates: { anchors: [] },
      approvers: {
        add: async ({ name }: { name: string }) => void added.push(name),
      } as unknown as ApproverStore,
      audit: { recordNow: () => true } as unknown as Audit,
      clock: createManualClock(),
      user: "anna",
      isOver: ({ id }) => ended.has(id),
    });
    const origin = "http://localhost:7332";
    const asked = (body: object) =>
      ({
        origin,
        headers: { origin, host: "localhost:7332" },
        json: async () => body,
      }) as unknown as HttpRequest;
    const register = async (id: string) => {
      const session = { id, expiresAt: Date.now() + 60_000, isLocal: true, epoch: 0 };
      const { challenge } = await desk.options(session, asked({ name: id }));
      const { credentialId, publicKey } = softPasskey().passkey;
      const wish = { credentialId, publicKey, challenge: String(challenge), origin };
      const registering = desk.register(session, asked({ credential: softRegistration(wish) }));
      if (id === "late") ended.add(id);
      return await registering;
    };
    await expect(register("late")).rejects.toMatchObject({ code: "unauthorised" });
    // The control.
    await register("early");
    expect(added).toEqual(["early"]);
  });

  test("only who is logged in registers, only with what was asked for in that login", async () => {
    const visitor = await visit(server);
    const [options, register] = ["/console/api/passkeys/options", "/console/api/passkeys"];
    const approvers = "/console/api/approvers";
    const nobody = { headers: { cookie: "" }, body: { name: "anna" } };
    expect((await visitor.call("POST", options, nobody)).status).toBe(401);
    expect((await visitor.call("POST", register, nobody)).status).toBe(401);
    expect((await visitor.call("DELETE", `${approvers}/anna`, nobody)).status).toBe(401);
    // At a number there are no passkeys.
    expect(reasonOf(await visitor.call("POST", options, { body: { name: "anna" } }))).toBe("bad_request");
    for (const name of ["", "../x", "system:gateway", 7]) {
      expect((await visitor.call("POST", options, { body: { name } })).status, String(name)).toBe(400);
    }
    expect(reasonOf(await visitor.call("POST", register, { body: { credential: {} } }))).toBe("bad_request");
    const anna = enrolled(server, { mayLogIn: false });
    expect((await visitor.call("DELETE", `${approvers}/..%2Fx`)).status).toBe(404);
    expect((await visitor.call("DELETE", `${approvers}/nobody`)).status).toBe(404);
    const ben = enrolled(server, { name: "ben" });
    const { body } = await visitor.call("GET", register);
    expect(body.passkeys).toMatchObject([{ name: "ben", isThisLogin: false }]);
    expect((await visitor.call("DELETE", `${approvers}/ben`)).status).toBe(200);
    expect(reasonOf(await ben.options())).toBe("not_found");
    expect((await visitor.call("DELETE", `${approvers}/${anna.name}`)).status).toBe(200);
    expect((await visitor.call("DELETE", `${approvers}/${anna.name}`)).status).toBe(404);
  });
});

describe("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    [browser, server] = await Promise.all([openBrowser(), startTestServer()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  test("[X1-8-1] registered once, it logs in; out again; taken back, it is over", slow, async () => {
    const origin = server.url.replace("127.0.0.1", "localhost");
    const { page, context, errors } = await openScreen(browser, `${origin}${await loginPath(server)}`);
    const device = await plugIn(context, page);
    const logOut = () => page.getByRole("button", { name: "Log out" }).click();
    const logIn = () => page.getByRole("button", { name: "Log in with a passkey" }).click();
    // Before there is one, none is offered.
    await page.getByRole("navigation").getByRole("link", { name: "Tokens" }).waitFor();
    await logOut();
    await page.getByText("You are not logged in").waitFor();
    expect(await page.getByRole("button", { name: "Log in with a passkey" }).count()).toBe(0);
    await page.goto(`${origin}${await loginPath(server)}`);
    await page.getByRole("navigation").getByRole("link", { name: "Tokens" }).click();
    const passkeys = page.getByRole("region", { name: "Passkeys" });
    await passkeys.getByText("None yet.").waitFor();
    await passkeys.getByRole("button", { name: "Register a passkey" }).click();
    await passkeys.getByRole("button", { name: "Remove" }).waitFor();
    expect(await device.credentials()).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);
    await logOut();
    await logIn();
    await page.getByRole("navigation").getByRole("link", { name: "Tokens" }).click();
    await passkeys.getByText("you are here with it").waitFor();
    // Who is not verified is not let in, and is told so.
    await logOut();
    await device.setVerified(false);
    await logIn();
    await page.getByRole("alert").getByText("No passkey was used").waitFor();
    await device.setVerified(true);
    await logIn();
    await page.getByRole("navigation").getByRole("link", { name: "Tokens" }).click();
    await passkeys.getByRole("button", { name: "Remove" }).click();
    // Enter is No.
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(await passkeys.getByRole("button", { name: "Remove" }).count()).toBe(1);
    await passkeys.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Yes, remove it" }).click();
    // It was this very login.
    await page.getByText("You are not logged in").waitFor();
    expect(await page.getByRole("button", { name: "Log in with a passkey" }).count()).toBe(0);
    expect((await loginsOn(server)).filter((reason) => reason === "ok").length).toBeGreaterThanOrEqual(4);
    // What a refused request is told, the browser repeats; nothing else went wrong.
    expect(errors.filter((text) => !text.includes("status of 401"))).toEqual([]);
    await context.close();
  });

  test("a passkey that a link has enrolled approves, and does not log in", slow, async () => {
    const origin = server.url.replace("127.0.0.1", "localhost");
    const { page, context } = await openScreen(browser, origin);
    await plugIn(context, page);
    // The one that was taken back has to sign nothing here.
    await server.forgetApprovers();
    const { body } = await server.callHere("POST", "/admin/approvers/enrolments", { name: "guest" });
    await page.goto(`${origin}${new URL(String((body as { url?: unknown }).url)).pathname}`);
    await page.getByRole("button", { name: "Register a passkey" }).click();
    await page.getByText("Done. guest can approve").waitFor();
    await page.goto(origin);
    await page.getByText("You are not logged in").waitFor();
    expect(await page.getByRole("button", { name: "Log in with a passkey" }).count()).toBe(0);
    rmSync(join(server.dataDir, "approvers/guest.json"));
    await context.close();
  });
});
