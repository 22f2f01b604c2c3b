// What every store of credentials has to do.
import { expect, test } from "vitest";
import type { Credential, CredentialStore } from "./credential-store.ts";

export const someCredential: Credential = {
  issuer: "https://as.example",
  url: "https://mcp.example/mcp",
  resource: "https://mcp.example/mcp",
  client: { id: "c", secret: "s", method: "client_secret_basic", redirect: "http://127.0.0.1:9/callback" },
  tokens: { access: "a", refresh: "r", scope: "x y", expiresAt: 1_900_000_000_000 },
};

/** Each call opens an empty one. */
export function credentialStoreCases(open: () => CredentialStore | Promise<CredentialStore>): void {
  test("what was written is read, under its own key only", async () => {
    const store = await open();
    await store.write("one", someCredential);
    expect(await store.read("one")).toEqual(someCredential);
    expect(await store.read("two")).toBeUndefined();
  });

  test("a later write replaces the whole, undefined removes it", async () => {
    const store = await open();
    await store.write("one", someCredential);
    const { tokens: _, ...bare } = someCredential;
    await store.write("one", bare);
    expect(await store.read("one")).toEqual(bare);
    await store.write("one", undefined);
    await store.write("one", undefined);
    expect(await store.read("one")).toBeUndefined();
  });

  test("keys are any text", async () => {
    const store = await open();
    const keys = ["../../etc/passwd", "", "a/b", "ä".repeat(500), "__proto__", "a", "A"];
    for (const key of keys)
      await store.write(key, { ...someCredential, url: `https://${keys.indexOf(key)}.example/` });
    const read = await Promise.all(keys.map((key) => store.read(key)));
    expect(read.map((credential) => credential?.url)).toEqual(keys.map((_, at) => `https://${at}.example/`));
  });

  test("everything that was written and not removed is told, with its key", async () => {
    const store = await open();
    expect(await store.entries()).toEqual([]);
    const userOwn = { ...someCredential, userIssuer: "https://idp.example" };
    await store.write("../one", someCredential);
    await store.write("two", userOwn);
    await store.write("three", someCredential);
    await store.write("three", undefined);
    const told = new Map(await store.entries());
    expect(told).toEqual(
      new Map([
        ["../one", someCredential],
        ["two", userOwn],
      ]),
    );
  });

  test("what a reader does with it does not change what is kept", async () => {
    const store = await open();
    const mine = structuredClone(someCredential);
    await store.write("one", mine);
    mine.client.id = "changed";
    Object.assign((await store.read("one")) ?? {}, { issuer: "changed" });
    expect(await store.read("one")).toEqual(someCredential);
  });

  test("of many writes at once one is kept whole", async () => {
    const store = await open();
    const written = Array.from({ length: 20 }, (_, at) => ({ ...someCredential, resource: `r${at}` }));
    await Promise.all(written.map((credential) => store.write("one", credential)));
    expect(written).toContainEqual(await store.read("one"));
  });

  test("one after the other has its turn at a key, and is given what the one before has left", async () => {
    const store = await open();
    const seen: (string | undefined)[] = [];
    const turns = Array.from({ length: 5 }, (_, at) =>
      store.inTurn("one", async (kept) => {
        seen.push(kept?.resource);
        await store.write("one", { ...someCredential, resource: `r${at}` });
        return at;
      }),
    );
    expect((await Promise.all(turns)).toSorted()).toEqual([0, 1, 2, 3, 4]);
    // Who comes finds what was written last before: nobody finds what somebody else has found.
    expect(new Set(seen).size).toBe(5);
    expect(seen[0]).toBeUndefined();
  });

  test("who fails in its turn ends it, and other keys wait for nobody", async () => {
    const store = await open();
    const failing = store.inTurn("one", async () => {
      expect(await store.inTurn("two", async () => "at once")).toBe("at once");
      throw new Error("it failed");
    });
    await expect(failing).rejects.toThrow("it failed");
    expect(await store.inTurn("one", async (kept) => kept ?? "nothing")).toBe("nothing");
  });
}
