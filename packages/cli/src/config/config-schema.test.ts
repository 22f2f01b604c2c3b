import { readFileSync } from "node:fs";
import { defaultTopic } from "@mcpx/gateway";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { defaultHost, defaultPort } from "../settings/server-settings.ts";
import { configJsonSchema, keysOf } from "./config-json-schema.ts";
import { configReference, configTable } from "./config-reference.ts";

const page = readFileSync(new URL("../../../../docs/CONFIG.md", import.meta.url), "utf8");
const rows = new Map(configReference.map((row) => [row.key, row.default]));
const schema = configJsonSchema();

test("every key of the configuration is described, and no other", () => {
  expect([...rows.keys()].sort()).toEqual([...keysOf(schema).keys()].sort());
  expect(configReference.length).toBe(rows.size);
});

test("docs/CONFIG.md has the table of the keys as they are described; node scripts/config-page.ts writes it", () => {
  expect(page).toContain(configTable());
});

test("the JSON Schema has a type for nearly every key, a meaning for each, and knows what is no key", () => {
  const keys = [...keysOf(schema)];
  const typed = keys.filter(([, place]) => ["type", "enum", "anyOf"].some((word) => word in place));
  expect(keys.length - typed.length).toBeLessThan(10);
  for (const [key, { description }] of keys) expect([key, typeof description]).toEqual([key, "string"]);
  expect(schema).toMatchObject({
    additionalProperties: false,
    properties: {
      listen: { properties: { port: { type: "integer", default: defaultPort } } },
      limits: {
        properties: { topicsMax: { type: "integer", minimum: 1, default: defaultLimits.topicsMax } },
      },
    },
  });
});

test("the defaults are described as they are", () => {
  for (const [name, value] of Object.entries(defaultLimits)) {
    expect([name, rows.get(`limits.${name}`)]).toEqual([name, `\`${value}\``]);
  }
  expect(rows.get("listen.host")).toBe(`\`"${defaultHost}"\``);
  expect(rows.get("listen.port")).toBe(`\`${defaultPort}\``);
  expect(rows.get("topics.NAME.retention.count")).toBe(`\`${defaultTopic.retention.count}\``);
});
