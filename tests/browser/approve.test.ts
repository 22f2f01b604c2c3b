// Where humans decide, in a real browser with a passkey device.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { challengeOf, type JsonObject, statementOf } from "@mcpx/protocol";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFaults } from "../console/support/axe.ts";
import { openBrowser } from "./page.ts";
import { type ApproveServer, startApproveServer, type Waiting } from "./support/approve-server.ts";
import { type Authenticator, assertAt, plugIn } from "./support/authenticator.ts";

let server: ApproveServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let device: Authenticator;
/** What went wrong in the page, and where it went. */
const errors: string[] = [];
const requested = new Set<string>();

const slow = { timeout: 60_000 };

beforeAll(async () => {
  server = await startApproveServer({
    rules: [{ tools: "files.wipe", action: "ask", where: { path: "/both" }, approvers: 2 }],
  });
  browser = await openBrowser();
  context = await browser.newContext();
  page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // Refusals of the gateway are told to the human; the browser only repeats their numbers.
    const isRefusal = message.text().includes("the server responded with a status of");
    if (message.type() === "error" && !isRefusal) errors.push(message.text());
  });
  page.on("request", (request) => requested.add(new URL(request.url()).origin));
  device = await plugIn(context, page);
  await enrol("anna");
}, 60_000);

afterAll(async () => {
  await browser.close();
  await server.stop();
});

async function enrol(name: string): Promise<void> {
  const { body } = await server.invite(name);
  await page.goto(String(body.url));
  await page.getByText(name, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Register a passkey" }).click();
  await page.getByText(`Done. ${name} can approve`).waitFor();
  await server.reload();
}

const status = () => page.getByRole("status").textContent();
const open = async ({ approve_url }: Waiting) => {
  await page.goto(approve_url);
  await page.getByText("asks to call").waitFor();
};
const approve = async () => {
  await page.getByRole("button", { name: "Approve …" }).click();
  await page.getByRole("button", { name: "Approve with passkey" }).click();
};
const bytes = (text: string) => Buffer.from(text, "base64url");

const hostile = {
  path: "/tmp/harmless",
  html: "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
  hidden: "photo\u202egpj.exe\u200b\u0000",
  forged: 'x",\n  "dry_run": true,\n  "y": "',
  long: `${"a".repeat(5_000)} && rm -rf / #${"b".repeat(500)}`,
  "key\u202e<b>": [1, { deep: ["{{7*7}}", "${alert(1)}", "javascript:alert(1)"] }],
  exact: { big: 9_007_199_254_740_991, flag: false, nothing: null },
};

test("[AX-11.3-4] a call is shown exactly, whatever its arguments would like to be", slow, async () => {
  const waiting = await server.stopped(hostile);
  await open(waiting);
  const text = await page.locator(".arguments").textContent();
  expect(text).toContain("<script>document.title='owned'</script>");
  expect(text).toContain("photoU+202Egpj.exeU+200BU+0000");
  expect(text).toContain('x\\",↵\n');
  expect(text).toContain("keyU+202E<b>");
  expect(await page.getByRole("list", { name: "Warnings" }).textContent()).toMatch(
    /the arguments contain 3 hidden characters: U\+202E .* at \d+, U\+200B .* at \d+, U\+202E .* at \d+$/,
  );
  expect(text).toContain("9007199254740991");
  expect(await page.locator(".arguments").locator("img, script, b, a").count()).toBe(0);
  // The end of what is long is seen before it is unfolded; the rest after.
  expect(text).not.toContain("rm -rf");
  await page.getByRole("button", { name: /show [\d,]+ more characters/ }).click();
  expect(await page.locator(".arguments").textContent()).toContain("&& rm -rf / #");
  await expect.poll(() => page.title()).toBe("Waiting: files.wipe");
  await page.getByRole("heading", { level: 1, name: "agent asks to call files.wipe" }).waitFor();
  expect(await page.locator(".dangers li").allTextContents()).toContain("Irreversible");
  expect(await page.locator("main").textContent()).toContain("agent");
  expect(await page.getByRole("timer").textContent()).toMatch(/^[45]:\d\d$/);
  expect(await page.locator("[aria-live], [role=status], [role=alert], [role=log]").count()).toBe(1);
  expect(server.called()).toEqual([]);
  expect(errors).toEqual([]);
});

test("[AX-11.3-2] [AX-11.3-5] [B-GATE-1] a passkey approves, and the call happens once", slow, async () => {
  const waiting = await server.stopped(hostile);
  await open(waiting);
  await approve();
  await page.getByText("Approved by anna. The call was made once, and is done.").waitFor();
  expect(server.called()).toEqual([hostile]);
  expect(await page.getByRole("button", { name: "Approve …" }).isVisible()).toBe(false);
  // The agent hears it, once; asking again is a new call.
  expect(await server.call(hostile)).toMatchObject({ content: [{ type: "text" }] });
  expect(server.called()).toHaveLength(1);
  const { confirmation_id } = waiting;
  const proof = await server.sign(waiting, "approve");
  const second = await server.post(`/approve/${confirmation_id}/decision`, { proof });
  expect(second).toMatchObject({ status: 409, body: { error: { reason: "confirmation_used" } } });
  expect(server.called()).toHaveLength(1);
  const [credential] = await device.credentials();
  expect(credential?.signCount).toBeGreaterThan(1);
  expect(await server.counters()).toEqual([["anna", credential?.signCount]]);
  expect(await server.audited()).toContainEqual(["gate.approve", "anna", undefined]);
  expect(errors).toEqual([]);
});

test("[AX-11.3-4] the next call is compared with the one that was approved", slow, async () => {
  const before = server.called().length;
  await open(await server.stopped({ path: "/a", force: false }));
  await approve();
  await page.getByText("is done").waitFor();
  expect(server.called()).toHaveLength(before + 1);
  await open(await server.stopped({ path: "/a", force: true }));
  const changes = page.getByRole("list", { name: "Changes" });
  expect(await changes.getByRole("listitem").allTextContents()).toEqual(["/force: false true"]);
  // What others were allowed is theirs.
  await open(await server.stopped({ path: "/a", force: true }, "stranger"));
  expect(await changes.count()).toBe(0);
});

test(
  "[AX-11.3-5] keys open a question whose answer is No; denied with a reason, nothing happens",
  slow,
  async () => {
    const before = server.called().length;
    const waiting = await server.stopped({ path: "/denied" });
    await open(waiting);
    await page.keyboard.press("a");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("dialog").isVisible()).toBe(false);
    expect((await server.gates.store.find(waiting.confirmation_id))?.status).toBe("pending");
    await page.keyboard.press("d");
    await page.getByRole("textbox", { name: /Reason/ }).fill("not on a Friday, a d <b>");
    await page.getByRole("button", { name: "Reject with passkey" }).click();
    await page.getByText("Rejected by anna. “not on a Friday, a d <b>” Nothing has happened.").waitFor();
    expect(await server.call({ path: "/denied" })).toMatchObject({
      isError: true,
      structuredContent: { status: "rejected", reason: "not on a Friday, a d <b>" },
    });
    expect(server.called()).toHaveLength(before);
  },
);

test("[AX-11.3-2] a human who is not verified approves nothing", slow, async () => {
  const before = server.called().length;
  const waiting = await server.stopped({ path: "/unverified" });
  await open(waiting);
  await device.setVerified(false);
  try {
    await approve();
    await page.getByText("No passkey was used. Nothing has changed.").waitFor();
    // A page that asks for less gets an assertion, and no further with it.
    const challenge = await challengeOf(statementOf(waiting, "approve"));
    const wish = { challenge, rpId: "localhost", userVerification: "discouraged" } as const;
    const credential = await assertAt(page, wish);
    expect(Number(bytes(credential.response.authenticatorData ?? "")[32]) & 4).toBe(0);
    expect(await sendAssertion(waiting, credential)).toEqual(refusal("the passkey's assertion is not valid"));
  } finally {
    await device.setVerified(true);
  }
  expect(server.called()).toHaveLength(before);
  // The control: the same with a human who is.
  await approve();
  await page.getByText("Approved by anna. The call was made once, and is done.").waitFor();
  expect(server.called()).toHaveLength(before + 1);
});

const refusal = (detail: string) => ({ status: 403, message: `The proof is not valid: ${detail}` });

async function sendAssertion(
  { confirmation_id }: Waiting,
  credential: object,
  more: object = { decision: "approve" },
): Promise<{ status: number; message: unknown }> {
  const path = `/approve/${confirmation_id}/passkey/decision`;
  const { status: code, body } = await server.post(path, { credential, ...more });
  return { status: code, message: (body.error as JsonObject | undefined)?.message };
}

test("[AX-11.3-2] an assertion for one call or decision is none for another", slow, async () => {
  const before = server.called().length;
  const one = await server.stopped({ path: "/one" });
  const other = await server.stopped({ path: "/other" });
  await open(one);
  const wish = {
    challenge: await challengeOf(statementOf(one, "reject", "no")),
    rpId: "localhost",
    userVerification: "required",
  } as const;
  const credential = await assertAt(page, wish);
  const refused = refusal("it is for another call or another decision");
  expect(await sendAssertion(other, credential, { decision: "reject", reason: "no" })).toEqual(refused);
  expect(await sendAssertion(one, credential)).toEqual(refused);
  expect(await sendAssertion(one, credential, { decision: "reject" })).toEqual(refused);
  expect((await sendAssertion(one, credential, { decision: "reject", reason: "no" })).status).toBe(200);
  expect(await sendAssertion(one, credential, { decision: "reject", reason: "no" })).toMatchObject({
    status: 409,
  });
  expect(server.called()).toHaveLength(before);
});

test(
  "[AX-11.3-2] at another port or under another name the same passkey signs nothing that counts",
  slow,
  async () => {
    const before = server.called().length;
    const waiting = await server.stopped({ path: "/elsewhere" });
    const foreign = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>looks like it</title>");
    });
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    const { port } = foreign.address() as AddressInfo;
    const challenge = await challengeOf(statementOf(waiting, "approve"));
    try {
      await page.goto(`http://localhost:${port}/`);
      const wish = { challenge, userVerification: "required" } as const;
      const nextEndpoint = await assertAt(page, { ...wish, rpId: "localhost" });
      expect(await sendAssertion(waiting, nextEndpoint)).toEqual(refusal("it was made at another address"));
      // The same key, made for another name.
      const [stolen] = await device.credentials();
      await page.goto(`http://evil.localhost:${port}/`);
      await device.add({
        ...(stolen as NonNullable<typeof stolen>),
        rpId: "evil.localhost",
        credentialId: Buffer.from("evil").toString("base64"),
      });
      const { response } = await assertAt(page, { ...wish, rpId: "evil.localhost" });
      const id = Buffer.from(stolen?.credentialId ?? "", "base64").toString("base64url");
      expect(await sendAssertion(waiting, { id, response })).toEqual(
        refusal("it was made at another address"),
      );
      // Nor can that page talk to the gateway itself.
      const outcome = await page.evaluate(
        (url) => fetch(url, { method: "POST", body: "{}" }).then(String, () => "refused"),
        `${server.origin}/approve/${waiting.confirmation_id}/decision`,
      );
      expect(outcome).toBe("refused");
    } finally {
      foreign.close();
    }
    expect(server.called()).toHaveLength(before);
  },
);

test("[AX-11.3-6] whoever asks may look at the page, and decides nothing without a key", slow, async () => {
  const before = server.called().length;
  const waiting = await server.stopped({ path: "/thief" });
  const thief = await browser.newContext();
  const own = await thief.newPage();
  // A device of its own, with a passkey nobody has enrolled.
  await plugIn(thief, own);
  await own.goto(waiting.approve_url);
  await own.getByRole("button", { name: "Approve …" }).click();
  await own.getByRole("button", { name: "Approve with passkey" }).click();
  await own.getByText("No passkey was used. Nothing has changed.").waitFor();
  const path = `/approve/${waiting.confirmation_id}`;
  for (const body of [{}, { proof: "" }, { proof: "approve" }, { proof: '{"type":"webauthn"}' }]) {
    const { status: code } = await server.post(`${path}/decision`, body);
    expect([400, 403], JSON.stringify(body)).toContain(code);
  }
  await thief.close();
  expect((await server.gates.store.find(waiting.confirmation_id))?.status).toBe("pending");
  expect(server.called()).toHaveLength(before);
});

test("[B-GATE-1] decided elsewhere, the page says so and by whom", slow, async () => {
  const waiting = await server.stopped({ path: "/from-elsewhere" });
  await open(waiting);
  expect(await status()).toBe("Waiting for a signature.");
  const proof = await server.sign(waiting, "reject", "I was faster");
  await server.post(`/approve/${waiting.confirmation_id}/decision`, { proof });
  await page.getByText("Rejected by operator. “I was faster” Nothing has happened.").waitFor();
  expect(await page.getByRole("button", { name: "Approve …" }).isVisible()).toBe(false);
});

test(
  "[AX-11.3-2] a signature made elsewhere is pasted; a wrong one is told, and the call waits on",
  slow,
  async () => {
    const before = server.called().length;
    const waiting = await server.stopped({ path: "/pasted" });
    await open(waiting);
    await page.getByText("Decide with a signature made elsewhere").click();
    const statement = JSON.parse((await page.locator("#statement-approve").textContent()) ?? "");
    expect(statement).toEqual(statementOf(waiting, "approve"));
    const box = page.getByRole("textbox", { name: "Signature" });
    await box.fill("nonsense");
    await page.getByRole("button", { name: "Send signature" }).click();
    await page.getByText("The proof is not valid").waitFor();
    await box.fill(`  ${await server.sign(waiting, "approve")}\n`);
    await page.getByRole("button", { name: "Send signature" }).click();
    await page.getByText("Approved by operator. The call was made once, and is done.").waitFor();
    expect(server.called()).toHaveLength(before + 1);
  },
);

test("[AX-11.3-5] where two must approve, one passkey is one of them", slow, async () => {
  const before = server.called().length;
  const waiting = await server.stopped({ path: "/both" });
  await open(waiting);
  await approve();
  await page.getByText("anna approved it. 1 more of 2 must approve.").waitFor();
  expect(server.called()).toHaveLength(before);
  await approve();
  await page.getByText("this approver has approved it already").waitFor();
  expect(server.called()).toHaveLength(before);
  const proof = await server.sign(waiting, "approve");
  await server.post(`/approve/${waiting.confirmation_id}/decision`, { proof });
  await page.getByText("Approved by anna and operator. The call was made once, and is done.").waitFor();
  expect(server.called()).toHaveLength(before + 1);
});

test("[AX-11.3-1] nobody decides: the page counts down and says that it is over", slow, async () => {
  const brief = await startApproveServer({ ttlMs: 4_000 });
  try {
    const waiting = await brief.stopped({ path: "/late" });
    await open(waiting);
    // Nobody has enrolled there, and it says so, and how to.
    await page.getByText("Nobody has enrolled a passkey at this address.").waitFor();
    await page.getByText("Register one at the console: mcpx console --open, then Tokens.").waitFor();
    await page.getByText("Nobody decided in time. Nothing has happened.").waitFor();
    expect(brief.called()).toEqual([]);
  } finally {
    await brief.stop();
  }
});

test(
  "the shell is the same for every id, lets nothing else in, and tells strangers nothing",
  slow,
  async () => {
    const { approve_url } = await server.stopped({ path: "/shell" });
    const real = await fetch(approve_url);
    const made = await fetch(`${server.origin}/approve/no-such-id`);
    expect(await real.text()).toBe(await made.text());
    const policy = real.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(real.headers.get("referrer-policy")).toBe("no-referrer");
    expect((await fetch(`${server.origin}/approve/no-such-id/call`)).status).toBe(404);
    await page.goto(`${server.origin}/approve/no-such-id`);
    await page.getByText("There is nothing to decide here").waitFor();
    expect([...requested].filter((origin) => !new URL(origin).hostname.endsWith("localhost"))).toEqual([]);
  },
);

test(
  "[AX-11.3-2] a gateway that shows another call than it wants signed gets no signature",
  slow,
  async () => {
    const waiting = await server.stopped({ path: "/shown" });
    await page.route("**/call", async (route) => {
      const response = await route.fetch();
      const text = (await response.text()).replace("/shown", "/other");
      await route.fulfill({ response, body: text });
    });
    try {
      await page.goto(waiting.approve_url);
      await page.getByText("The gateway shows another call than it wants to have signed").waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
      expect(await page.locator("main").textContent()).not.toContain("/other");
    } finally {
      await page.unroute("**/call");
    }
    // The control: what it shows without that can be signed.
    await open(waiting);
    expect(await page.getByRole("button", { name: "Approve …" }).isEnabled()).toBe(true);
  },
);

const deep = {
  path: "/srv",
  a: { b: { c: { d: { e: "deep" } } } },
  note: "one\ntwo",
  long: "a".repeat(3_000),
};

test.each([
  ["at a desk", { viewport: { width: 1_000, height: 800 } }],
  ["on a telephone", { viewport: { width: 390, height: 844 } }],
  ["in the dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
] as const)(
  "Approve is the first and the strong one, and everybody can read it %s",
  slow,
  async (_, look) => {
    const { approve_url } = await server.stopped(deep);
    const own = await browser.newContext({ ...look, bypassCSP: true });
    const seen = await own.newPage();
    await seen.goto(approve_url);
    const bar = seen.getByRole("contentinfo").getByRole("button");
    await bar.first().waitFor();
    const words = (await bar.allTextContents()).map((text) => text.split(" ")[0]);
    expect(words).toEqual(["Approve", "Reject"]);
    expect(await bar.evaluateAll((all) => all.map(({ className }) => className.includes("strong")))).toEqual([
      true,
      false,
    ]);
    const sizeOf = (text: string) =>
      seen.getByText(text, { exact: true }).evaluate((one) => {
        const { getComputedStyle } = globalThis as unknown as {
          getComputedStyle(of: unknown): { fontSize: string };
        };
        return Number.parseFloat(getComputedStyle(one).fontSize);
      });
    expect(await sizeOf("deep")).toBe(await sizeOf("/srv"));
    expect(await seen.evaluate("document.documentElement.scrollWidth")).toBe(look.viewport.width);
    await seen.getByText("Decide with a signature made elsewhere").click();
    expect(await axeFaults(seen)).toEqual([]);
    await seen.keyboard.press("d");
    await seen.getByRole("dialog").waitFor();
    expect(await axeFaults(seen)).toEqual([]);
    await own.close();
  },
);

test(
  "without TLS and without localhost a call is shown, and decided with a signature made elsewhere",
  slow,
  async () => {
    const before = server.called().length;
    const waiting = await server.stopped({ path: "/plain", exact: 1.5 });
    const plain = await openBrowser(["--host-resolver-rules=MAP gate.test 127.0.0.1"]);
    try {
      const own = await plain.newPage();
      await own.goto(waiting.approve_url.replace("localhost", "gate.test"));
      await own.getByText("Passkeys need this page over HTTPS, or at localhost.").waitFor();
      expect(await own.locator(".arguments").textContent()).toContain("/plain");
      await own.getByRole("textbox", { name: "Signature" }).fill(await server.sign(waiting, "approve"));
      await own.getByRole("button", { name: "Send signature" }).click();
      await own.getByText("Approved by operator. The call was made once, and is done.").waitFor();
    } finally {
      await plain.close();
    }
    expect(server.called()).toHaveLength(before + 1);
  },
);

test("a link to enrol is for those at the machine to make, for one name, once", slow, async () => {
  const denied = await server.post("/admin/approvers/enrolments", { name: "eve" });
  expect(denied.status).toBe(401);
  expect((await server.invite("anna")).status).toBe(409);
  expect((await server.invite("OPERATOR")).status).toBe(409);
  expect((await server.invite("../eve")).status).toBe(400);
  const { body, status: code } = await server.invite("ben");
  expect(code).toBe(201);
  expect(Date.parse(String(body.expires_at)) - Date.now()).toBeGreaterThan(590_000);
  await page.goto(String(body.url));
  await device.setVerified(false);
  await page.getByRole("button", { name: "Register a passkey" }).click();
  await page.getByText("No passkey was made.").waitFor();
  await device.setVerified(true);
  await page.getByRole("button", { name: "Register a passkey" }).click();
  await page.getByText("Done. ben can approve").waitFor();
  await page.goto(String(body.url));
  await page.getByText("this link was used or is too old").waitFor();
  const again = await server.post(`${new URL(String(body.url)).pathname}/passkey`, { credential: {} });
  expect(again.status).toBe(401);
  expect(await server.audited()).toContainEqual(["approver.enroll", "ben", undefined]);
});
