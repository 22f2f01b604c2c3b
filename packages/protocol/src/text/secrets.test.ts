import { expect, test } from "vitest";
import { isSecretName, isSecretText, maskSecrets, secretPlaces, secretTexts } from "./secrets.ts";

test("names that mean a secret, and those that only look like it", () => {
  for (const name of [
    "password",
    "dbPassword",
    "API_KEY",
    "apiKey",
    "client-secret",
    "x.token",
    "privateKey",
    "Set-Cookie",
  ]) {
    expect(isSecretName(name), name).toBe(true);
  }
  for (const name of [
    "author",
    "max_tokens",
    "key",
    "compass",
    "session",
    "tokenize",
    "publicKey",
    "passenger",
    "",
  ]) {
    expect(isSecretName(name), name).toBe(false);
  }
});

test("texts that look like a secret, and those that do not", () => {
  const shaped = [
    "ghp_0123456789abcdefABCDEF",
    "AKIAIOSFODNN7EXAMPLE",
    `eyJ${"a".repeat(20)}`,
    "-----BEGIN RSA PRIVATE KEY-----\nx",
  ];
  for (const text of [...shaped, `${"aB3".repeat(15)}`]) expect(isSecretText(text), text).toBe(true);
  const plain = [
    "hello",
    "/usr/local/lib/0123456789/abcdefghijkl",
    "a".repeat(64),
    "3f786850e387550fdab836ed7e6dc881de23001b",
  ];
  for (const text of [...plain, "123e4567-e89b-12d3-a456-426614174000"])
    expect(isSecretText(text), text).toBe(false);
});

test("arguments are masked by name, by shape and by schema, at any depth, and nothing else of them changes", () => {
  const schema = {
    type: "object",
    properties: {
      login: { type: "object", properties: { word: { type: "string", format: "password" } } },
      seeds: { type: "array", items: { type: "string", writeOnly: true } },
      way: { anyOf: [{ type: "object", properties: { plain: { writeOnly: true } } }] },
    },
  };
  const places = secretPlaces(schema);
  expect(places).toEqual(["/login/word", "/seeds/*", "/way/plain"]);
  const value = {
    user: "me",
    password: "hunter2",
    pin: 7,
    max_tokens: 100,
    headers: [{ Authorization: "Bearer x" }],
    login: { word: "opensesame", user: "me" },
    seeds: ["one", "two"],
    way: { plain: { deep: "inside" } },
  };
  const masked = maskSecrets(value, places);
  expect(masked).toEqual({
    ...value,
    password: "•••",
    headers: [{ Authorization: "•••" }],
    login: { word: "•••", user: "me" },
    seeds: ["•••", "•••"],
    way: { plain: { deep: "•••" } },
  });
  expect(secretTexts(value, places)).toEqual(["hunter2", "Bearer x", "opensesame", "one", "two", "inside"]);
  // The control: without the schema only names and shapes count.
  expect(maskSecrets({ login: value.login })).toEqual({ login: value.login });
});

test("a schema that goes round or on for ever is looked at so far and no further", () => {
  const round: { properties: Record<string, unknown> } = { properties: {} };
  round.properties.again = round;
  expect(secretPlaces(round)).toEqual([]);
  const wide = {
    properties: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, { writeOnly: true }])),
  };
  expect(secretPlaces(wide)).toHaveLength(100);
});
