import { readFileSync } from "node:fs";
import { defaultTopic } from "@mcpx/gateway";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import { defaultHost, defaultPort } from "../settings/server-settings.ts";
import { configSchema } from "./config-schema.ts";

const page = readFileSync(new URL("../../../../docs/CONFIG.md", import.meta.url), "utf8");

/** Key and default of each row. */
const rows = new Map(
  [...page.matchAll(/^\| `([^`]+)` \| .+? \| (.+?) \| .+ \|$/gm)].map(([, key = "", value = ""]) => [
    key,
    value,
  ]),
);

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
}

/** `topics.NAME.history`, `issuers[].level`: every key that holds a value. */
function keysOf({ properties, additionalProperties, items }: JsonSchema, path: string): string[] {
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([key, child]) =>
      keysOf(child, path === "" ? key : `${path}.${key}`),
    );
  }
  if (typeof additionalProperties === "object") {
    return keysOf(additionalProperties, `${path}.${path === "identities" ? "ID" : "NAME"}`);
  }
  const inner = items === undefined ? [] : keysOf(items, `${path}[]`);
  // A list of plain values is one key.
  return inner.some((key) => key.startsWith(`${path}[].`)) ? inner : [path];
}

test("docs/CONFIG.md names every key of the configuration, and no other", () => {
  const schema = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  expect([...rows.keys()].sort()).toEqual(keysOf(schema, "").sort());
});

test("docs/CONFIG.md shows the defaults as they are", () => {
  for (const [name, value] of Object.entries(defaultLimits)) {
    expect([name, rows.get(`limits.${name}`)]).toEqual([name, `\`${value}\``]);
  }
  expect(rows.get("listen.host")).toBe(`\`"${defaultHost}"\``);
  expect(rows.get("listen.port")).toBe(`\`${defaultPort}\``);
  expect(rows.get("topics.NAME.retention.count")).toBe(`\`${defaultTopic.retention.count}\``);
});
