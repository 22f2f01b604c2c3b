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

test("one that is there and cannot be loaded is named with why, and what to type", async () => {
  const cause = new Error("compiled against a different Node.js version\nPlease try re-compiling");
  const loading = loadOptional("spi-device", "an SPI line", () => Promise.reject(cause));
  await expect(loading).rejects.toThrow(MissingLibraryError);
  await expect(loading).rejects.toThrow(
    "an SPI line needs the package spi-device, which is there and cannot be loaded (compiled against a different Node.js version); rebuild it with: npm rebuild spi-device",
  );
  await expect(loading).rejects.toMatchObject({ cause });
});
