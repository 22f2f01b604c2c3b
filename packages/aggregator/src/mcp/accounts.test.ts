import { createByteLedger, principalKey } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { createAccounts } from "./accounts.ts";

const principal = (more: object) => ({
  id: "a",
  topics: [],
  levelMax: "full" as const,
  tools: [],
  admin: false,
  expiresAt: 0,
  jti: "1",
  issuer: "i",
  tokenHash: "",
  ...more,
});

test("tokens of one principal share an account; nobody else does", () => {
  const { of } = createAccounts(createByteLedger(defaultLimits));
  const account = of(principal({}));
  expect(of(principal({ jti: "2" }))).toBe(account);
  for (const other of [{ id: "b" }, { issuer: "j" }, { id: undefined }]) {
    expect(of(principal(other))).not.toBe(account);
  }
  expect(principalKey(principal({ id: undefined, jti: "1" }))).not.toBe(principalKey(principal({ id: "1" })));
  expect(of(principal({ id: undefined, jti: "2" }))).not.toBe(of(principal({ id: undefined })));
});

test("an account is forgotten only when nothing is under way", () => {
  const accounts = createAccounts(createByteLedger(defaultLimits));
  const one = principal({});
  const account = accounts.of(one);
  account.parked = 1;
  accounts.sweep();
  expect(accounts.of(one)).toBe(account);
  account.parked = 0;
  accounts.sweep();
  const next = accounts.of(one);
  expect(next).not.toBe(account);
  expect(accounts.of(principal({ jti: "3" }))).toBe(next);
});
