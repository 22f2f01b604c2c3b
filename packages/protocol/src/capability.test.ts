import { describe, expect, test } from "vitest";
import {
  capabilityOf,
  cautious,
  isIrreversible,
  mayRepeat,
  readCapability,
  seesFreshState,
  stricterOf,
} from "./capability.ts";

const harmless = {
  latency_class: "fast",
  consistency: "strong",
  mutable: false,
  reversible: true,
  idempotent: true,
  transport: "uart_cbor",
  auth_scope: "read",
  cost_class: "free",
  availability: "always",
  schema_version: "1.2.3",
} as const;

test("[AX-9.1-1] a trusted annotation is taken as it is", () => {
  expect(capabilityOf({ name: "t", _meta: { "x-mcpax-capability": harmless } }, true)).toEqual(harmless);
});

test("[AX-9.1-1] a tool that says nothing changes things, for good", () => {
  expect(capabilityOf({ name: "t" }, true)).toBe(cautious);
  expect(isIrreversible(cautious)).toBe(true);
});

test("[AX-9.1-1] MCP's hints count where the server is trusted", () => {
  const reads = capabilityOf({ name: "t", annotations: { readOnlyHint: true } }, true);
  expect(reads).toMatchObject({ mutable: false, reversible: true, idempotent: true, auth_scope: "read" });
  const adds = capabilityOf({ name: "t", annotations: { destructiveHint: false } }, true);
  expect(adds).toMatchObject({ mutable: true, reversible: true, idempotent: false, auth_scope: "write" });
  expect(isIrreversible(capabilityOf({ name: "t", annotations: { destructiveHint: true } }, true))).toBe(
    true,
  );
});

test("[AX-9.1-2] what an untrusted server says lowers nothing, and may raise", () => {
  const meek = capabilityOf({ name: "t", _meta: { "x-mcpax-capability": harmless } }, false);
  expect(meek).toMatchObject({ mutable: true, reversible: false, idempotent: false, auth_scope: "write" });
  expect(meek.consistency).toBe("best_effort");
  expect(meek.cost_class).toBe("metered");
  const proud = { ...harmless, auth_scope: "admin", cost_class: "expensive", latency_class: "slow" };
  expect(capabilityOf({ _meta: { "x-mcpax-capability": proud } }, false)).toMatchObject({
    auth_scope: "admin",
    cost_class: "expensive",
    latency_class: "slow",
  });
  expect(capabilityOf({ annotations: { readOnlyHint: true } }, false)).toMatchObject({ mutable: true });
});

describe("[AX-9.1-3] an unknown or missing value is read as the most cautious", () => {
  const worst = readCapability({});
  test.each(Object.entries(worst))("%s missing or nonsense → %s", (field, value) => {
    for (const nonsense of [undefined, null, 7, "nonsense", {}, []]) {
      // These two are free text.
      if (typeof nonsense === "string" && (field === "transport" || field === "schema_version")) continue;
      expect(readCapability({ ...harmless, [field]: nonsense })).toMatchObject({ [field]: value });
    }
  });
  test("which is dangerous, dear and for admins", () => {
    expect(worst).toMatchObject({
      mutable: true,
      reversible: false,
      auth_scope: "admin",
      cost_class: "expensive",
    });
  });
});

test("[AX-9.1-4] what may be repeated blindly, and what sees fresh state, follows from the annotation", () => {
  expect(mayRepeat({ ...harmless })).toBe(true);
  expect(mayRepeat({ ...harmless, mutable: true })).toBe(true);
  expect(mayRepeat({ ...harmless, mutable: true, idempotent: false })).toBe(false);
  expect(mayRepeat({ ...harmless, mutable: true, consistency: "eventual" })).toBe(false);
  expect(mayRepeat(cautious)).toBe(false);
  expect(seesFreshState(harmless)).toBe(true);
  expect(seesFreshState(cautious)).toBe(false);
});

test("of two readings the stricter one is never less cautious than either, in any order", () => {
  const one = readCapability({ ...harmless, mutable: false, cost_class: "expensive", latency_class: "slow" });
  const other = readCapability({ ...harmless, mutable: true, reversible: false, auth_scope: "admin" });
  const strict = stricterOf(one, other);
  expect(strict).toMatchObject({
    mutable: true,
    reversible: false,
    auth_scope: "admin",
    cost_class: "expensive",
    latency_class: "slow",
  });
  expect(stricterOf(other, one)).toEqual(strict);
  expect(stricterOf(one, one)).toEqual(one);
});
