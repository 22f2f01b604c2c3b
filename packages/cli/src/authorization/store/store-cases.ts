// What every store of the authorization server must do.
import { expect, test } from "vitest";
import type { Artifact, AuthorizationStore, Consent } from "./authorization-store.ts";

/** As small as these cases need them. */
export const caseBounds = { perKindMax: 3, perConsentMax: 2, consentsMax: 2 };

export function authorizationStoreCases(
  createStore: () => AuthorizationStore | Promise<AuthorizationStore>,
): void {
  const artifact = (key: string, more: Partial<Artifact> = {}): Artifact => ({
    kind: "Code",
    key,
    payload: { of: key },
    consent: undefined,
    uid: undefined,
    expiresAt: 100,
    ...more,
  });
  const consent = (id: string, more: Partial<Consent> = {}): Consent => ({
    id,
    client: "c",
    clientName: "Client",
    redirect: "http://127.0.0.1/callback",
    account: "alice",
    resource: "http://localhost/mcp",
    participant: "client-1",
    topics: [],
    tools: ["**"],
    level: "full",
    createdAt: 1,
    expiresAt: 100,
    usedAt: undefined,
    ...more,
  });

  test("an artifact is found under its kind and key until it ends, and replaced by a newer one", async () => {
    const store = await createStore();
    await store.put(artifact("a", { uid: "u" }));
    expect(await store.find("Code", "a", 99)).toMatchObject({ payload: { of: "a" }, consumedAt: undefined });
    expect(await store.findByUid("Code", "u", 99)).toMatchObject({ key: "a" });
    expect(await store.find("Code", "a", 100)).toBeUndefined();
    expect(await store.findByUid("Code", "u", 100)).toBeUndefined();
    expect(await store.find("Token", "a", 1)).toBeUndefined();
    await store.put(artifact("a", { payload: { of: "b" }, expiresAt: 200 }));
    expect(await store.find("Code", "a", 150)).toMatchObject({ payload: { of: "b" } });
  });

  test("of several at once, one consumes", async () => {
    const store = await createStore();
    await store.put(artifact("a"));
    const tried = await Promise.all([1, 2, 3].map((now) => store.consume("Code", "a", now)));
    expect(tried.filter(Boolean)).toHaveLength(1);
    expect((await store.find("Code", "a", 1))?.consumedAt).toBeGreaterThan(0);
    expect(await store.consume("Code", "nothing", 1)).toBe(false);
  });

  test("what is saved again stays consumed", async () => {
    const store = await createStore();
    await store.put(artifact("a"));
    await store.consume("Code", "a", 1);
    await store.put(artifact("a"));
    expect(await store.consume("Code", "a", 2)).toBe(false);
  });

  test("an artifact is renamed, prolonged and removed", async () => {
    const store = await createStore();
    await store.put(artifact("a"));
    await store.rename("Code", "a", "b");
    expect(await store.find("Code", "a", 1)).toBeUndefined();
    await store.prolong("Code", "b", 50);
    expect(await store.find("Code", "b", 99)).toBeDefined();
    await store.prolong("Code", "b", 300);
    expect(await store.find("Code", "b", 299)).toBeDefined();
    await store.remove("Code", "b");
    expect(await store.find("Code", "b", 1)).toBeUndefined();
  });

  test("of one kind there are so many: those that end first give way, never the newest", async () => {
    const store = await createStore();
    for (const [index, key] of ["a", "b", "c"].entries())
      await store.put(artifact(key, { expiresAt: 200 + index }));
    await store.put(artifact("d", { expiresAt: 100 }));
    await store.put(artifact("other", { kind: "Client" }));
    const left = await Promise.all(["a", "b", "c", "d"].map((key) => store.find("Code", key, 1)));
    expect(left.flatMap((one) => one?.key ?? [])).toEqual(["b", "c", "d"]);
    expect(await store.find("Client", "other", 1)).toBeDefined();
  });

  test("of one consent there are so many: those used longest ago give way", async () => {
    const store = await createStore();
    for (const [index, key] of ["a", "b", "c"].entries()) {
      await store.put(artifact(key, { consent: "x" }));
      if (key !== "c") await store.consume("Code", key, index + 1);
    }
    const left = await Promise.all(["a", "b", "c"].map((key) => store.find("Code", key, 1)));
    expect(left.flatMap((one) => one?.key ?? [])).toEqual(["b", "c"]);
  });

  test("a consent is listed until it ends, and says when it was used", async () => {
    const store = await createStore();
    await store.addConsent(consent("x"));
    await store.addConsent(consent("y", { createdAt: 2, expiresAt: 50, level: "restricted" }));
    expect((await store.consents(3)).map(({ id }) => id)).toEqual(["y", "x"]);
    expect(await store.consent("y", 3)).toEqual(
      consent("y", { createdAt: 2, expiresAt: 50, level: "restricted" }),
    );
    expect((await store.consents(50)).map(({ id }) => id)).toEqual(["x"]);
    expect(await store.consent("y", 50)).toBeUndefined();
    await store.addToken({ jti: "t", consent: "x", expiresAt: 60 }, 40);
    expect((await store.consent("x", 41))?.usedAt).toBe(40);
  });

  test("there are so many consents; one that has ended makes room", async () => {
    const store = await createStore();
    await store.addConsent(consent("x", { expiresAt: 10 }));
    await store.addConsent(consent("y"));
    await expect(store.addConsent(consent("z"))).rejects.toThrow("consents already");
    await store.addConsent(consent("z", { createdAt: 10 }));
    expect((await store.consents(11)).map(({ id }) => id)).toEqual(["z", "y"]);
  });

  test("the end of a consent names its tokens and takes its artifacts along, no others", async () => {
    const store = await createStore();
    await store.addConsent(consent("x"));
    await store.addConsent(consent("y"));
    await store.put(artifact("a", { consent: "x" }));
    await store.put(artifact("b", { consent: "y" }));
    await store.addToken({ jti: "t1", consent: "x", expiresAt: 90 }, 1);
    await store.addToken({ jti: "t2", consent: "x", expiresAt: 95 }, 1);
    await store.addToken({ jti: "t3", consent: "y", expiresAt: 95 }, 1);
    expect(await store.tokensOf("x", 92)).toEqual(["t2"]);
    expect(await store.consentOfToken("t1")).toBe("x");
    expect((await store.endConsent("x"))?.sort()).toEqual(["t1", "t2"]);
    expect(await store.addToken({ jti: "late", consent: "x", expiresAt: 90 }, 1)).toBe(false);
    expect(await store.consentOfToken("late")).toBeUndefined();
    expect(await store.endConsent("x")).toBeUndefined();
    expect(await store.consentOfToken("t1")).toBeUndefined();
    expect(await store.find("Code", "a", 1)).toBeUndefined();
    expect(await store.find("Code", "b", 1)).toBeDefined();
    expect(await store.tokensOf("y", 1)).toEqual(["t3"]);
    await store.removeOf("y");
    expect(await store.find("Code", "b", 1)).toBeUndefined();
  });
}
