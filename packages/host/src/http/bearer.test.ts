import { expect, test } from "vitest";
import { bearerToken } from "./bearer.ts";

test("[X0-5.1-1] the bearer token is read", () => {
  expect(bearerToken({ headers: { authorization: "Bearer abc.def-_~+/=" } })).toBe("abc.def-_~+/=");
  expect(bearerToken({ headers: { authorization: "bearer   abc" } })).toBe("abc");
});

test.each([
  [undefined],
  [""],
  ["Bearer"],
  ["Bearer "],
  ["Basic YWxpY2U6eA=="],
  ["Bearer a b"],
  ["Bearer a, Bearer b"],
  ["Bearer a,b"],
  ["xBearer a"],
  ["Bearer\u00a0a"],
])("[X0-5.1-3] %j is no bearer token", (authorization) => {
  expect(() => bearerToken({ headers: authorization === undefined ? {} : { authorization } })).toThrow(
    expect.objectContaining({ code: "unauthorised" }),
  );
});
