import { expect, test } from "vitest";
import { createRouter, type Route } from "./routes.ts";

const route = (method: Route["method"], path: string): Route => ({ method, path, handle: () => ({}) });
const find = createRouter([
  route("GET", "/v0/topics"),
  route("GET", "/v0/topics/:topic/participants"),
  route("POST", "/admin/participants/:id/promote"),
  route("GET", "/admin/tokens/:jti"),
  route("DELETE", "/admin/tokens/:jti"),
]);

test("a path is found by its parts, and parameters are decoded", () => {
  expect(find("GET", "/v0/topics")?.params).toEqual({});
  expect(find("GET", "/v0/topics/room%3Aalpha%2F1/participants")).toMatchObject({
    path: "/v0/topics/:topic/participants",
    params: { topic: "room:alpha/1" },
  });
});

test("an encoded slash or dot never becomes another path", () => {
  expect(find("GET", "/v0%2Ftopics")).toBeUndefined();
  expect(find("GET", "/v0/topics/a/b/participants")).toBeUndefined();
  expect(find("GET", "/v0/topics/..%2F..%2Fadmin/participants")?.params).toEqual({ topic: "../../admin" });
});

test("what is not quite the path is not found", () => {
  for (const path of ["/", "/v0/topics/", "//v0/topics", "/V0/topics", "/v0/topics//participants", "/v0"]) {
    expect(find("GET", path)).toBeUndefined();
  }
});

test("bad percent-encoding is a bad request", () => {
  for (const part of ["%", "%zz", "%E0%A4%A", "%ff"]) {
    expect(() => find("GET", `/v0/topics/${part}/participants`)).toThrow(
      expect.objectContaining({ code: "bad_request" }),
    );
  }
});

test("a known path tells which methods it has", () => {
  const found = find("PUT", "/admin/tokens/one");
  expect(found?.handle).toBeUndefined();
  expect(found?.methods).toEqual(["GET", "HEAD", "DELETE"]);
  expect(find("HEAD", "/v0/topics")?.handle).toBeDefined();
});
