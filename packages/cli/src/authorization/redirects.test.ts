import { expect, test } from "vitest";
import { placeOf, redirectFault, withoutQuery } from "./redirects.ts";

test("https, loopback and a scheme of the program's own are places for a code", () => {
  const good = [
    "https://app.example/cb?x=1",
    "http://127.0.0.1/cb",
    "http://[::1]:5000/cb",
    "http://localhost:1/cb",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "com.example.app:/cb",
  ];
  for (const one of good) expect(redirectFault(one), one).toBeUndefined();
});

test("nothing else is", () => {
  const bad = [
    "http://app.example/cb",
    "http://127.0.0.2/cb",
    "http://localhost.evil.example/cb",
    "https://a:b@app.example/cb",
    "https://app.example/cb#x",
    "https://app.example/cb#",
    "https://app.example/a b",
    "https://app.example\\@evil.example/cb",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "intent://x",
    "file:///x",
    "wss://x",
    "cb",
    "",
    7,
    `https://app.example/${"x".repeat(1_000)}`,
  ];
  for (const one of bad) expect(redirectFault(one), String(one)).toBeTypeOf("string");
});

test("a person is told who gets the code, and a list shows no query", () => {
  expect(placeOf("https://app.example:8443/cb")).toEqual({ kind: "site", host: "app.example:8443" });
  expect(placeOf("http://localhost:7777/cb")).toEqual({ kind: "program", host: "localhost:7777" });
  expect(placeOf("cursor://x/cb")).toEqual({ kind: "scheme", host: "cursor:" });
  expect(withoutQuery("https://app.example/cb?secret=1")).toBe("https://app.example/cb");
});
