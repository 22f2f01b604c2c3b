import { expect, test } from "vitest";
import { localUrl } from "./local-url.ts";

test("a gateway that listens everywhere is reached at loopback", () => {
  expect(localUrl("http://0.0.0.0:6279", {})).toBe("http://127.0.0.1:6279");
  expect(localUrl("http://[::]:6279", {})).toBe("http://[::1]:6279");
  expect(localUrl("http://127.0.0.1:1", { hosts: ["mcpx.example.com"] })).toBe("http://127.0.0.1:1");
});

test("with TLS it is reached by the name of its certificate", () => {
  const tls = { cert: "", key: "" };
  expect(localUrl("https://0.0.0.0:6279", { tls, hosts: ["mcpx.example.com:443"] })).toBe(
    "https://mcpx.example.com:6279",
  );
});
