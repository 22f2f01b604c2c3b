import { expect, test } from "vitest";
import { isSecretName } from "./secret-names.ts";
import { isSecretText, maskChange, maskSecrets, secretPlaces, secretTexts } from "./secrets.ts";
import { secretsInside } from "./secrets-inside.ts";

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

test("the hash in a change of the gates and a public key are shown; the same text elsewhere and a private key are not", () => {
  const text = "uE3p8XnQm2LrT5vYb7Zc0KdWf9HjA1sGo4iN6eRxVtM";
  const jwk = { kty: "OKP", crv: "Ed25519", x: text };
  const change = {
    what: ["anna may approve"],
    changes: [{ key: "approver/anna", value: { jwk } }],
    entry: 3,
    after: text,
  };
  expect(maskSecrets(change)).toEqual(change);
  expect(secretTexts(change)).toEqual([]);
  expect(maskSecrets(change, ["/after"])).toEqual({ ...change, after: "•••" });
  expect(maskSecrets({ ...change, more: 1 })).toMatchObject({ after: "•••" });
  expect(maskSecrets({ ...change, after: `${text}A` })).toMatchObject({ after: "•••" });
  expect(maskSecrets({ after: text, x: text })).toEqual({ after: "•••", x: "•••" });
  expect(maskSecrets({ ...jwk, d: text })).toEqual({ ...jwk, d: "•••" });
  expect(maskSecrets({ kty: "oct", k: text, x: text })).toEqual({ kty: "oct", k: "•••", x: "•••" });
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

test("a schema is read through its references, its patterns and its choices, also where it has no end", () => {
  const schema = {
    $defs: {
      Login: {
        type: "object",
        properties: { word: { format: "password" }, next: { $ref: "#/$defs/Login" } },
      },
      "a/b": { writeOnly: true },
    },
    properties: {
      login: { anyOf: [{ $ref: "#/$defs/Login" }, { type: "null" }] },
      odd: { $ref: "#/$defs/a~1b" },
      other: { $ref: "https://example.org/x" },
    },
    patternProperties: { "^x-": { format: "password" } },
    if: { properties: { a: { const: 1 } } },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
    then: { properties: { b: { writeOnly: true } } },
  };
  const places = secretPlaces(schema);
  expect(places.slice(0, 2)).toEqual(["/login/word", "/login/next/word"]);
  expect(places).toEqual(expect.arrayContaining(["/odd", "/*", "/b"]));
  expect(maskSecrets({ login: { word: "opensesame" } }, places)).toEqual({ login: { word: "•••" } });
});

test("secrets inside of longer texts are masked, and the rest of the text stays", () => {
  const key = "ghp_0123456789abcdefABCDEF0123456789abcd";
  for (const [text, masked] of [
    [`curl -H "Authorization: Bearer ${key}" https://x`, 'curl -H "Authorization: Bearer •••" https://x'],
    ["psql postgres://me:hunter2@db.example/x", "psql postgres://me:•••@db.example/x"],
    ["login --user me --password hunter2 now", "login --user me --password ••• now"],
    ["PGPASSWORD=hunter2 psql", "PGPASSWORD=••• psql"],
    ["DB_PASSWORD=hunter2 psql", "DB_PASSWORD=••• psql"],
    ['{"user":"me","apiKey":"abc123"}', '{"user":"me","apiKey":"•••"}'],
    [`git clone https://${key}@github.com/x/y`, "git clone https://•••@github.com/x/y"],
    ["https://x.example/?token=abc123&page=2", "https://x.example/?token=•••&page=2"],
  ] as const) {
    expect(maskSecrets({ text }), text).toEqual({ text: masked });
  }
  for (const text of [
    "the password is asked for at the terminal",
    "http://127.0.0.1:8080/path",
    "sk-learn is a library",
    "a token of gratitude",
    "author: me",
  ]) {
    expect(secretsInside(text), text).toEqual([]);
  }
});

test("a word after --token, and a value whose neighbour names it, are secrets too", () => {
  const value = {
    args: ["--user", "me", "--token", "abc", "--verbose", "yes"],
    env: [
      { name: "DB_PASSWORD", value: "hunter2" },
      { name: "PAGE", value: "2" },
      { key: "api-key", value: 12 },
    ],
  };
  expect(maskSecrets(value)).toEqual({
    args: ["--user", "me", "--token", "•••", "--verbose", "yes"],
    env: [
      { name: "DB_PASSWORD", value: "•••" },
      { name: "PAGE", value: "2" },
      { key: "api-key", value: "•••" },
    ],
  });
  expect(secretTexts(value)).toEqual(["abc", "hunter2", "12"]);
});

test("a difference masks what is secret by schema inside of what has come, and all of a part that may have some", () => {
  const change = { path: "/user", new: '{"name":"me","word":"opensesame"}' };
  expect(maskChange(change, ["/user/word"]).new).toBe('{"name":"me","word":"•••"}');
  expect(maskChange(change).new).toBe(change.new);
  expect(maskChange({ path: "/user", new: '{"name":"me","word":"opens' }, ["/user/word"]).new).toBe('"•••"');
  expect(maskChange({ path: "/user", new: '{"name":"me","password":"hunter2' }).new).toBe('"•••"');
  expect(maskChange({ path: "/user", new: '{"name":"me","page":"1' }).new).toBe('{"name":"me","page":"1');
});
