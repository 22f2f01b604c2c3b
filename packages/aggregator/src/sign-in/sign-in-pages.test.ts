import { expect, test } from "vitest";
import { isSamePerson, personOf } from "../servers/users/person.ts";
import { clientKey, readUserKey, userKey } from "../servers/users/user-key.ts";
import { isProof, newBrowserSecret, proofOf, readCookie, setCookie, tagOf } from "./browser-cookie.ts";
import { askPage, donePage, faultPage } from "./sign-in-pages.ts";

const hostile = `<img src=x onerror="1">'&\u202e\u0000`;
const harmless = "&#60;img src=x onerror=&#34;1&#34;&#62;&#39;&#38;\\u202e\\u0000";

test("names are shown as they are, and none of them is markup", () => {
  for (const page of [
    askPage({ server: hostile, host: hostile, user: hostile, proof: "p" }),
    donePage(hostile, hostile),
    faultPage(400, hostile, hostile),
  ]) {
    expect(page.text).toContain(`<bdi>${harmless}</bdi>`);
    for (const part of ["<img", 'onerror="', "\u202e", "\u0000"]) expect(page.text).not.toContain(part);
  }
});

test("pages run nothing, are in no frame, and tell their address to nobody else", () => {
  const { headers = {}, text = "" } = askPage({ server: "notes", host: "h", user: "alice", proof: "p" });
  const policy = headers["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("script");
  expect(text).not.toContain("<script");
  expect(headers["referrer-policy"]).toBe("same-origin");
});

test("the cookie is for this host alone where there is TLS, and gone when its work is done", () => {
  const tag = tagOf("ticket");
  expect(tag).toMatch(/^[0-9a-f]{16}$/);
  const value = newBrowserSecret();
  expect(setCookie({ tag, value, isSecure: true })).toBe(
    `__Host-mcpx-sign-in-${tag}=${value}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure`,
  );
  expect(setCookie({ tag, value: "", isSecure: false })).toBe(
    `mcpx-sign-in-${tag}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`,
  );
});

test("a cookie is read by its whole name, once, and only as one of ours", () => {
  const tag = tagOf("ticket");
  const value = newBrowserSecret();
  const name = `mcpx-sign-in-${tag}`;
  expect(readCookie(`a=b; ${name}=${value}; c`, tag, false)).toBe(value);
  expect(readCookie(`__Host-${name}=${value}`, tag, true)).toBe(value);
  for (const header of [
    undefined,
    "",
    `x${name}=${value}`,
    `${name}=${value}; ${name}=${newBrowserSecret()}`,
    `${name}=${value}x`,
    `${name}=`,
  ])
    expect(readCookie(header, tag, false)).toBeUndefined();
  // Set by somebody without TLS, it is not the one.
  expect(readCookie(`${name}=${value}`, tag, true)).toBeUndefined();
});

test("a proof holds for one ticket, in one browser, at one gateway", () => {
  const secret = new Uint8Array(32).fill(1);
  const proof = proofOf(secret, "t", "b");
  expect(isProof(proof, proofOf(secret, "t", "b"))).toBe(true);
  for (const other of [
    proofOf(secret, "u", "b"),
    proofOf(secret, "t", "c"),
    proofOf(new Uint8Array(32), "t", "b"),
    "",
    null,
  ])
    expect(isProof(other, proof)).toBe(false);
});

test("keys of users are no names of servers, and read back as they were", () => {
  for (const [server, user] of [
    ["notes", "alice"],
    ['n","x', '"]'],
    ["", ""],
  ] as const)
    expect(readUserKey(userKey(server, user))).toEqual({ server, user });
  for (const key of ["notes", clientKey("notes"), '["user",', '["user",1,2]', '["user","a"]'])
    expect(readUserKey(key)).toBeUndefined();
});

test("a person is a name and who says so; a tree above and a token without a name are nobody", () => {
  const principal = { id: "alice", issuer: "https://a.example" } as Parameters<
    typeof personOf
  >[0]["principal"];
  const alice = personOf({ principal });
  expect(alice).toEqual({ name: "alice", issuer: "https://a.example" });
  expect(personOf({ principal, isParent: true })).toBeUndefined();
  expect(personOf({ principal: { ...principal, id: undefined } })).toBeUndefined();
  expect(personOf({ principal: { ...principal, id: "" } })).toBeUndefined();
  expect(isSamePerson("https://a.example", { name: "alice", issuer: "https://a.example" })).toBe(true);
  expect(isSamePerson("https://a.example", { name: "alice", issuer: "https://b.example" })).toBe(false);
  // Ours, after an approval: the id was proven when the call came.
  expect(isSamePerson("https://a.example", { name: "alice", issuer: "local" })).toBe(true);
});
