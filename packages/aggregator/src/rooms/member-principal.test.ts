import { generateKeyPairSync } from "node:crypto";
import type { Principal } from "@mcpx/host";
import { expect, test } from "vitest";
import { mayUse } from "../catalogue/authorise.ts";
import { innerPrincipal } from "../mcp/plain-caller.ts";
import { memberPrincipal } from "./member-principal.ts";

const connection = (tools: readonly string[], more: Partial<Principal> = {}): Principal => ({
  ...innerPrincipal("ada", tools),
  ...more,
});
const may = (name: string, ...connections: Principal[]) =>
  mayUse(
    { rootSegment: "infra", rootSince: 5 },
    { principal: memberPrincipal("ada", connections), profile: undefined },
    name,
  );
const newKey = () => generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) as Principal["key"];

test("[B-TREE-1] one connection: the tools of its token, and nothing where there are none", () => {
  expect(may("a.b", connection(["a.*"]))).toBe(true);
  expect(may("c.d", connection(["a.*"]))).toBe(false);
  expect(may("a.b", connection([]))).toBe(false);
  expect(may("a.b")).toBe(false);
  expect(may("a.b", connection(["**"], { toolBounds: ["c.*"] }))).toBe(false);
});

test("[AX-3.1-1] of several tokens the oldest says whether the root's segment was known when it was issued", () => {
  const old = connection(["infra.a.*"], { issuedAt: 4 });
  const young = connection(["infra.a.*"], { issuedAt: 5 });
  expect(may("a.b", young)).toBe(true);
  expect(may("a.b", old)).toBe(false);
  expect(may("a.b", young, old)).toBe(false);
  expect(may("a.b", connection(["**"], { issuedAt: 9 }), old)).toBe(false);
});

test("[B-TREE-1] several: only what all of them may", () => {
  const wide = connection(["a.*", "c.*"]);
  expect(may("a.b", wide, connection(["a.*"]))).toBe(true);
  expect(may("c.d", wide, connection(["a.*"]))).toBe(false);
  expect(may("a.b", wide, connection([]))).toBe(false);
  expect(may("a.b", wide, wide, wide)).toBe(true);
  // More than can be told apart: nothing.
  expect(may("a.b", wide, connection(["a.*"]), connection(["a.b"]))).toBe(false);
});

test("[AX-11.3-6] it is known by its key; who has several of them, or several names, may nothing", () => {
  const [one, other] = [newKey(), newKey()];
  expect(memberPrincipal("ada", [connection(["**"], { key: one }), connection(["**"])]).key).toEqual(one);
  expect(may("a.b", connection(["**"], { key: one }), connection(["**"], { key: one }))).toBe(true);
  expect(may("a.b", connection(["**"], { key: one }), connection(["**"], { key: other }))).toBe(false);
  expect(
    may(
      "a.b",
      connection(["**"], { id: undefined, jti: "1" }),
      connection(["**"], { id: undefined, jti: "2" }),
    ),
  ).toBe(false);
});
