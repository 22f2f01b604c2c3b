import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "../testing/scratch.ts";
import { credentialStoreCases, someCredential } from "./credential-store-cases.ts";
import { createFileCredentialStore } from "./credential-store-files.ts";

const directory = () => join(scratch(), "credentials");
const open = () => createFileCredentialStore(directory());

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("credentials in files", () => {
  credentialStoreCases(open);

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
