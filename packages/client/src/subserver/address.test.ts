import { expect, test } from "vitest";
import { endpointAddress } from "./address.ts";

test.each([
  ["http://127.0.0.1:6279", "websocket", "ws://127.0.0.1:6279/ax"],
  ["https://edge.example.com/", "websocket", "wss://edge.example.com/ax"],
  ["ws://127.0.0.1:6279/ax", "websocket", "ws://127.0.0.1:6279/ax"],
  ["wss://edge.example.com/ax/", "http", "https://edge.example.com/ax"],
  ["https://example.com/trees/one", "http", "https://example.com/trees/one/ax"],
  ["http://[::1]:80/?token=x#y", "http", "http://[::1]/ax"],
] as const)("%s by %s is %s", (url, transport, address) => {
  expect(endpointAddress(url, transport)).toBe(address);
});

test.each(["", "edge", "ftp://edge", "file:///ax", "https://me:secret@edge"])("%j is no address", (url) => {
  expect(() => endpointAddress(url, "http")).toThrow(expect.objectContaining({ reason: "bad_option" }));
});
