import { expect, test } from "vitest";
import { z } from "zod";
import { sectionOf } from "./changelog-section.ts";
import { closure } from "./closure.ts";
import { broughtManifest, publishedManifest } from "./published-manifest.ts";
import { sbom } from "./sbom.ts";
import { serverJson } from "./server-json.ts";

const changelog =
  "# Changelog\n\n## 0.2.0 – unreleased\n\nNew.\n\n### More\n\nX.\n\n## 0.1.0 – 2026-11-18\n\nOld.\n";

/** What the registry documents of the fields we use, and no other field. */
const version = z
  .string()
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/)
  .max(255);
const input = z.strictObject({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  value: z.string().optional(),
  default: z.string().optional(),
});
const positional = input
  .extend({ type: z.literal("positional"), valueHint: z.string().optional() })
  .refine((one) => one.value !== undefined || one.valueHint !== undefined, "needs value or valueHint");
const registryDocument = z.strictObject({
  $schema: z
    .url()
    .regex(/^https:\/\/static\.modelcontextprotocol\.io\/schemas\/[\d-]+\/server\.schema\.json$/),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version,
  websiteUrl: z.url(),
  repository: z.strictObject({ url: z.url(), source: z.string(), subfolder: z.string().optional() }),
  packages: z
    .array(
      z.strictObject({
        registryType: z.enum(["npm", "pypi", "oci", "nuget", "mcpb"]),
        identifier: z.string(),
        version,
        runtimeHint: z.string(),
        transport: z.strictObject({ type: z.literal("stdio") }),
        packageArguments: z.array(positional),
        environmentVariables: z.array(input.extend({ name: z.string() })),
      }),
    )
    .min(1),
});

test("the section of a version ends where the next begins", () => {
  expect(sectionOf(changelog, "0.2.0")).toEqual({ released: "unreleased", text: "New.\n\n### More\n\nX.\n" });
  expect(sectionOf(changelog, "0.1.0")).toEqual({ released: "2026-11-18", text: "Old.\n" });
  expect(sectionOf(changelog, "0.1")).toBeUndefined();
});

const lock = {
  "packages/cli": { version: "1.0.0", dependencies: { "@mcpx/host": "1.0.0", jose: "6.0.0" } },
  "node_modules/@mcpx/host": { link: true, resolved: "packages/host" },
  "packages/host": {
    version: "1.0.0",
    license: "Apache-2.0",
    dependencies: { jose: "5.0.0", pino: "1.0.0" },
  },
  "packages/host/node_modules/jose": { version: "5.0.0", license: "MIT" },
  "node_modules/jose": { version: "6.0.0", license: "MIT", integrity: "sha512-AAEC" },
  "node_modules/pino": { version: "1.0.0", dependencies: { pino: "1.0.0" } },
  "node_modules/vitest": { version: "9.0.0" },
};

test("what comes with a package is found as Node finds it, inner versions included", () => {
  expect(closure(lock, "packages/cli").map(({ name, version }) => `${name}@${version}`)).toEqual([
    "@mcpx/host@1.0.0",
    "jose@5.0.0",
    "jose@6.0.0",
    "pino@1.0.0",
  ]);
  const { "node_modules/pino": _, ...without } = lock;
  expect(() => closure(without, "packages/cli")).toThrow("package-lock.json has no pino for packages/host");
});

test("the SBOM has hashes in hexadecimal and addresses of packages", () => {
  const { components } = JSON.parse(sbom("1.0.0", closure(lock, "packages/cli")));
  expect(components[0]).toMatchObject({
    purl: "pkg:npm/%40mcpx/host@1.0.0",
    licenses: [{ license: { id: "Apache-2.0" } }],
  });
  expect(components[2]).toMatchObject({ name: "jose", hashes: [{ alg: "SHA-512", content: "000102" }] });
});

const host = {
  name: "@mcpx/host",
  version: "1.0.0",
  scripts: { build: "x" },
  devDependencies: { vite: "1.0.0" },
  exports: { ".": { "mcpx-source": "./src/index.ts", default: "./dist/index.js" } },
  dependencies: { jose: "6.0.0" },
};
const front = { name: "mcpx", version: "1.0.0", dependencies: { "@mcpx/host": "1.0.0" } };
const packages = [front, host];

test("what is published has nothing that only a clone has, and knows its repository", () => {
  const repository = "https://github.com/someone/mcpx";
  const published = publishedManifest(host, { folder: "host", repository, packages });
  expect(published).toMatchObject({
    exports: { ".": { default: "./dist/index.js" } },
    repository: { type: "git", url: "git+https://github.com/someone/mcpx.git", directory: "packages/host" },
  });
  for (const key of ["scripts", "devDependencies", "mcpName"]) expect(published).not.toHaveProperty(key);
  expect(JSON.stringify(published)).not.toContain("mcpx-source");
  expect(publishedManifest(front, { folder: "mcpx", repository, packages }).mcpName).toBe(
    "io.github.someone/mcpx",
  );
  expect(publishedManifest(front, { folder: "mcpx", packages })).not.toHaveProperty("mcpName");
});

test("mcpx brings ours along and asks for what they need", () => {
  expect(publishedManifest(front, { folder: "mcpx", packages })).toMatchObject({
    dependencies: { "@mcpx/host": "1.0.0", jose: "6.0.0" },
    bundleDependencies: ["@mcpx/host"],
  });
  expect(broughtManifest(host)).not.toHaveProperty("dependencies");
});

test("the MCP registry is told the name, the package and the command; elsewhere than at GitHub there is no name", () => {
  const described = {
    ...front,
    description: "A gateway between agents and tools: all servers, one address.",
  };
  const text = serverJson(described, "https://github.com/someone/mcpx") ?? "";
  const document = JSON.parse(text);
  expect(document).toMatchObject({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "io.github.someone/mcpx",
    description: "A gateway between agents and tools",
    version: "1.0.0",
    packages: [{ registryType: "npm", identifier: "mcpx", version: "1.0.0", transport: { type: "stdio" } }],
  });
  expect(registryDocument.parse(document)).toEqual(document);
  // It would see what is wrong.
  const [npm] = document.packages;
  for (const wrong of [
    { name: "mcpx" },
    { description: "x".repeat(101) },
    { version: "^1.0.0" },
    { packages: [{ ...npm, version: "latest" }] },
    { packages: [{ ...npm, transport: { type: "pipe" } }] },
    { packages: [{ ...npm, packageArguments: [{ type: "positional" }] }] },
    { packages: [{ ...npm, environmentVariables: [{ description: "nameless" }] }] },
    { more: 1 },
  ])
    expect(registryDocument.safeParse({ ...document, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
  expect(serverJson({ ...front, description: "x".repeat(300) }, "https://github.com/a/b")).toContain(
    `"${"x".repeat(100)}"`,
  );
  expect(serverJson(described, "https://git.example.org/someone/mcpx")).toBeUndefined();
});
