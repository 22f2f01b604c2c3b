import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "../testing/scratch.ts";
import type { Credential } from "./credential-store.ts";
import { createFileCredentialStore } from "./credential-store-files.ts";

const someCredential: Credential = {
  issuer: "https://as.example",
  url: "https://mcp.example/mcp",
  resource: "https://mcp.example/mcp",
  client: { id: "c", secret: "s", method: "client_secret_basic", redirect: "http://127.0.0.1:9/callback" },
  tokens: { access: "a", refresh: "r", scope: "x y", expiresAt: 1_900_000_000_000 },
};

const directory = () => join(scratch(), "credentials");
const open = () => createFileCredentialStore(directory());

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("credentials in files", () => {
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

  test("outlive the store", async () => {
    const path = directory();
    await (await createFileCredentialStore(path)).write("one", someCredential);
    expect(await (await createFileCredentialStore(path)).read("one")).toEqual(someCredential);
  });

  test("are for their owner's eyes, also where the directory was open before", async () => {
    const path = directory();
    await mkdir(path, { mode: 0o755 });
    await (await createFileCredentialStore(path)).write("one", someCredential);
    const files = await readdir(path);
    expect(files).toHaveLength(1);
    expect(await modeOf(path)).toBe("700");
    expect(await modeOf(join(path, files[0] ?? ""))).toBe("600");
  });

  test("leave no drafts behind", async () => {
    const path = directory();
    const store = await createFileCredentialStore(path);
    await Promise.all(Array.from({ length: 10 }, () => store.write("one", someCredential)));
    expect(await readdir(path)).toHaveLength(1);
  });

  test.each([
    ["half a file", (text: string) => text.slice(0, 40)],
    ["an empty one", () => ""],
    ["another key's", (text: string) => text.replace('"one"', '"two"')],
    ["tokens that are none", (text: string) => text.replace('"access":"a"', '"access":7')],
    ["a list", () => "[]"],
  ])("%s counts as none", async (_, spoil) => {
    const path = directory();
    const store = await createFileCredentialStore(path);
    await store.write("one", someCredential);
    const [name = ""] = await readdir(path);
    const text = await readFile(join(path, name), "utf8");
    await writeFile(join(path, name), spoil(text));
    expect(await store.read("one")).toBeUndefined();
  });
});
