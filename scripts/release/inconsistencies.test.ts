import { expect, test } from "vitest";
import { inconsistencies, type Repository } from "./inconsistencies.ts";
import type { Manifest } from "./manifest.ts";

const complete = { description: "d", license: "l", engines: {}, exports: {}, files: [] };

function repository(change: Partial<Manifest> = {}): Repository {
  const host: Manifest = {
    name: "@mcpx/host",
    version: "1.2.0",
    ...complete,
    dependencies: { jose: "6.0.0" },
  };
  const cli: Manifest = {
    name: "@mcpx/cli",
    version: "1.2.0",
    ...complete,
    dependencies: { "@mcpx/host": "1.2.0", jose: "6.0.0" },
    ...change,
  };
  return {
    root: { name: "root", version: "1.2.0" },
    packages: new Map([
      ["host", host],
      ["cli", cli],
    ]),
    lock: {
      "": { version: "1.2.0" },
      "packages/host": { version: "1.2.0" },
      "packages/cli": { version: "1.2.0" },
    },
    changelog: "# Changelog\n\n## 1.2.0 – 2026-11-18\n\nText.\n",
  };
}

test("packages that agree have nothing to say", () => {
  expect(inconsistencies(repository())).toEqual([]);
});

test.for<[string, Partial<Manifest>, string]>([
  [
    "another version",
    { version: "1.1.0" },
    "packages/cli/package.json has version 1.1.0 and package.json 1.2.0",
  ],
  [
    "an old version of ours",
    { dependencies: { "@mcpx/host": "1.1.0" } },
    "packages/cli/package.json depends on @mcpx/host 1.1.0, not 1.2.0",
  ],
  [
    "a range",
    { dependencies: { zod: "^4.0.0" } },
    "packages/cli/package.json depends on zod ^4.0.0: name one version",
  ],
  [
    "a path of the workspace",
    { dependencies: { zod: "file:../zod" } },
    "packages/cli/package.json depends on zod file:../zod: name one version",
  ],
  [
    "two versions of one package",
    { dependencies: { jose: "5.0.0" } },
    "packages depend on jose in several versions: 6.0.0, 5.0.0",
  ],
  ["no licence", { license: undefined }, 'packages/cli/package.json has no "license"'],
])("%s is found", ([, change, fault]) => {
  expect(inconsistencies(repository(change))).toEqual([fault]);
});

test("a lock file or changelog of another version is found", () => {
  const fine = repository();
  const lock = { ...fine.lock, "packages/cli": { version: "1.1.0" } };
  expect(inconsistencies({ ...fine, lock })).toEqual([
    "package-lock.json has packages/cli at 1.1.0, not 1.2.0: run npm install",
  ]);
  expect(inconsistencies({ ...fine, changelog: "## 1.1.0\n\nOld.\n" })).toEqual([
    'CHANGELOG.md has no section "## 1.2.0"',
  ]);
});
