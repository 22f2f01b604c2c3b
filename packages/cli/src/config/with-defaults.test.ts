import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { withDefaults } from "./with-defaults.ts";

test("what is not given is filled in, what is given stays, and nothing is made up", () => {
  const given = {
    listen: { port: 1234 },
    topics: { a: { history: false } },
    issuers: [{ issuer: "https://login.example.com", jwksUri: "https://login.example.com/keys" }],
  };
  const whole = withDefaults(given);
  expect(whole).toMatchObject({
    listen: { host: "127.0.0.1", port: 1234 },
    topics: { a: { history: false } },
    limits: { topicsMax: 10_000 },
  });
  expect(whole.listen).not.toHaveProperty("tls");
  expect(whole).not.toHaveProperty("mcpServers.NAME");
  expect(given).toEqual({
    listen: { port: 1234 },
    topics: { a: { history: false } },
    issuers: [{ issuer: "https://login.example.com", jwksUri: "https://login.example.com/keys" }],
  });
});

test("what is filled in is a configuration by itself", () => {
  expect(() => parseConfig(JSON.stringify(withDefaults({})), "all defaults")).not.toThrow();
  const servers = { mcpServers: { files: { command: "node" } }, topics: { demo: {} } };
  expect(() => parseConfig(JSON.stringify(withDefaults(servers)), "with a server")).not.toThrow();
});
