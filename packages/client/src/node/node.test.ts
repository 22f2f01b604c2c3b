import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { accessStoreCases } from "../guard/access-store-cases.ts";
import { createKey } from "../signing/create-key.ts";
import { createSqliteAccessStore, keyBookFile, keyFile } from "./index.ts";

function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-guard-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

describe("a guard's store on disk", () => {
  for (const { name, run } of accessStoreCases) {
    test(name, () => {
      const path = join(newDir(), "access.db");
      return run({
        open: async (bounds) => createSqliteAccessStore(path, bounds),
        reopen: async (store) => {
          await store.close();
          return createSqliteAccessStore(path);
        },
      });
    });
  }

  test("[AC-8-2] two guards with one file: a proof is good once for both", async () => {
    const path = join(newDir(), "access.db");
    const [one, other] = [createSqliteAccessStore(path), createSqliteAccessStore(path)];
    const untilMs = 2_000_000_000_000;
    const grant = { id: "oven c1", jti: "c1", topic: "t", holder: "ann", tools: "*" as const };
    await one.remember({ ...grant, isByPolicy: true, issuedAtMs: 0, untilMs }, 1);
    const spending = {
      nonce: "n",
      nonceUntilMs: untilMs,
      capabilities: [{ id: "oven c1", maxUses: 1, untilMs }],
    };
    expect(await one.spend(spending, 1)).toBe("spent");
    expect(await other.spend(spending, 1)).toBe("replayed");
    expect(await other.spend({ ...spending, nonce: "m" }, 1)).toBe("uses_exhausted");
    await one.close();
    await other.close();
  });
});

describe("a key in a file", () => {
  test("is made once, for its owner alone, and is the same ever after", async () => {
    const path = join(newDir(), "keys", "agent.json");
    const keys = await Promise.all([keyFile(path), keyFile(path), keyFile(path)]);
    expect(new Set(keys.map(({ jwk }) => jwk.x)).size).toBe(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await keyFile(path)).jwk).toEqual(keys[0]?.jwk);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ crv: "Ed25519", d: expect.any(String) });
  });

  test("that others can read, or that holds no key, is refused", async () => {
    const path = join(newDir(), "agent.json");
    await keyFile(path);
    chmodSync(path, 0o644);
    await expect(keyFile(path)).rejects.toMatchObject({ reason: "bad_option" });
    chmodSync(path, 0o600);
    writeFileSync(path, "{}");
    await expect(keyFile(path)).rejects.toMatchObject({ reason: "bad_option" });
  });
});

describe("a key book in a file", () => {
  test("[X0-9-7] keeps what was pinned, one key or several of a participant", async () => {
    const path = join(newDir(), "books", "known.json");
    const [hers, second, his] = await Promise.all([createKey(), createKey(), createKey()]);
    const book = await keyBookFile(path, { pinsFirstUse: true });
    await book.pin("alice", hers.jwk);
    await book.pin("alice", hers.jwk);
    await book.pin("alice", second.jwk);
    await book.pin("bob", his.jwk);
    const again = await keyBookFile(path);
    expect(again.pinsFirstUse).toBe(false);
    expect(again.keysOf("alice")).toEqual([hers.jwk, second.jwk]);
    expect(again.keysOf("bob")).toEqual([his.jwk]);
    expect(again.keysOf("carol")).toEqual([]);
    writeFileSync(path, JSON.stringify({ alice: hers.jwk }));
    expect((await keyBookFile(path)).keysOf("alice")).toEqual([hers.jwk]);
  });

  test("[X0-9-7] that is not there, not JSON or holds no keys is refused by its name", async () => {
    const path = join(newDir(), "known.json");
    const refused = { reason: "bad_option", message: expect.stringContaining(path) };
    await expect(keyBookFile(path)).rejects.toMatchObject(refused);
    for (const text of [
      "",
      "[]",
      '{"alice": {}}',
      '{"a b": []}',
      '{"alice": {"kty":"OKP","crv":"Ed25519","x":"AA"}}',
    ]) {
      writeFileSync(path, text);
      await expect(keyBookFile(path, { pinsFirstUse: true })).rejects.toMatchObject(refused);
    }
  });
});
