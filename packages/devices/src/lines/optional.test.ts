import { expect, test } from "vitest";
import { loadOptional, MissingLibraryError } from "./optional.ts";

test("a library that is not installed is named, with what to type", async () => {
  const name = "no-such-library-of-ours";
  const cause = Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
  const loading = loadOptional(name, "a serial line", () => Promise.reject(cause));
  await expect(loading).rejects.toThrow(MissingLibraryError);
  await expect(loading).rejects.toThrow(
    "a serial line needs the package no-such-library-of-ours; install it with:",
  );
});

test("one that is there but broken says so itself", async () => {
  const broken = new Error("wrong ELF class");
  await expect(loadOptional("x", "y", () => Promise.reject(broken))).rejects.toBe(broken);
});
