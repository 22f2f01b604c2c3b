import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepBuilt } from "./keep-built.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "mcpx-kept-"));
  vi.stubEnv("TMPDIR", directory);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const shelf = () => join(directory, String(readdirSync(directory)[0]));

function compile(words: readonly string[]): Promise<{ kept: string; isNew: boolean }> {
  let isNew = false;
  return keepBuilt({ compiler: "sh", words }, async (into) => {
    isNew = true;
    writeFileSync(join(into, "image"), words.join());
  }).then((kept) => ({ kept, isNew }));
}

test("the same is built once, anything else anew", async () => {
  const { kept, isNew } = await compile(["-Os", "a.c"]);
  expect([isNew, readFileSync(join(kept, "image"), "utf8")]).toEqual([true, "-Os,a.c"]);
  expect(await compile(["-Os", "a.c"])).toEqual({ kept, isNew: false });
  for (const words of [["-O1", "a.c"], ["-Osa.c"], ["-Os", "a.c", ""]]) {
    expect((await compile(words)).isNew, words.join()).toBe(true);
  }
});

test("another version of a header is another recipe, and so is one that is missing", async () => {
  const header = join(directory, "io.h");
  const isBuilt = async () => {
    let isNew = false;
    await keepBuilt({ compiler: "sh", words: [], headers: [header] }, async () => {
      isNew = true;
    });
    return isNew;
  };
  expect([await isBuilt(), await isBuilt()]).toEqual([true, false]);
  writeFileSync(header, "1");
  expect([await isBuilt(), await isBuilt()]).toEqual([true, false]);
  writeFileSync(header, "12");
  expect(await isBuilt()).toBe(true);
});

test("two at once end with the same", async () => {
  const [one, two] = await Promise.all([compile(["a"]), compile(["a"])]);
  expect(one.kept).toBe(two.kept);
  expect(readdirSync(shelf())).toHaveLength(1);
});

test("what somebody has cleared in part is built anew", async () => {
  const { kept } = await compile(["a"]);
  rmSync(join(kept, "image"));
  expect(await compile(["a"])).toEqual({ kept, isNew: true });
});

test("a compiler that fails leaves nothing, and one that is not there is named", async () => {
  const failing = keepBuilt({ compiler: "sh", words: [] }, () => Promise.reject(new Error("syntax")));
  await expect(failing).rejects.toThrow("syntax");
  expect(readdirSync(shelf())).toEqual([]);
  const missing = keepBuilt({ compiler: "no-such-compiler", words: [] }, async () => {});
  await expect(missing).rejects.toThrow("no-such-compiler is not installed");
});

test("where others may write, nothing is taken", async () => {
  await compile(["a"]);
  chmodSync(shelf(), 0o777);
  await expect(compile(["a"])).rejects.toThrow(/not ours alone/);
});
