import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  authScopes,
  believedOf,
  type Capability,
  capabilityOf,
  cautious,
  isIrreversible,
  latencyClasses,
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
  // Written out, each value by itself: a default that becomes less cautious is seen here.
  const literally: Capability = {
    latency_class: "standard",
    consistency: "best_effort",
    mutable: true,
    reversible: false,
    idempotent: false,
    transport: "native",
    auth_scope: "admin",
    cost_class: "expensive",
    availability: "best_effort",
    schema_version: "0.0.0",
  };
  test.each(Object.entries(literally))("%s is read as %s where it is missing", (field, value) => {
    expect(worst).toHaveProperty(field, value);
    expect(
      readCapability({ ...harmless, [field]: "no such value", mutable: 0, transport: 1, schema_version: 2 }),
    ).toHaveProperty(field, value);
  });
  test("and an annotation that is none as one that says nothing", () => {
    for (const nonsense of [null, "harmless", 7, [harmless], true])
      expect(
        capabilityOf(
          { annotations: { readOnlyHint: true }, _meta: { "x-mcpax-capability": nonsense } },
          true,
        ),
      ).toEqual(literally);
  });
  test("a tool without any annotation: it changes things, for good, and may cost something", () => {
    expect(cautious).toEqual({ ...literally, auth_scope: "write", cost_class: "metered" });
  });
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

/** Any annotation a stranger may write: right values, wrong ones, wrong types, missing fields, fields of their own. */
const anything = fc.oneof(
  fc.constant(undefined),
  fc.boolean(),
  fc.integer(),
  fc.string(),
  fc.constant({}),
  fc.constant([]),
);
const annotation = fc.record(
  {
    latency_class: fc.oneof(fc.constantFrom(...latencyClasses), anything),
    consistency: fc.oneof(fc.constantFrom("strong", "eventual", "best_effort"), anything),
    mutable: fc.oneof(fc.boolean(), anything),
    reversible: fc.oneof(fc.boolean(), anything),
    idempotent: fc.oneof(fc.boolean(), anything),
    transport: anything,
    auth_scope: fc.oneof(fc.constantFrom(...authScopes), anything),
    cost_class: fc.oneof(fc.constantFrom("free", "metered", "expensive"), anything),
    availability: fc.oneof(fc.constantFrom("always", "scheduled", "best_effort", "degraded"), anything),
    schema_version: anything,
    "com.example/vendor": anything,
  },
  { requiredKeys: [] },
);

const orders = {
  latency_class: latencyClasses,
  consistency: ["strong", "eventual", "best_effort"],
  mutable: [false, true],
  reversible: [true, false],
  idempotent: [true, false],
  auth_scope: ["read", "write", "admin"],
  cost_class: ["free", "metered", "expensive"],
  availability: ["always", "scheduled", "best_effort", "degraded"],
} as const;

function isAsStrict(one: Readonly<Capability>, other: Readonly<Capability>): boolean {
  return (Object.keys(orders) as (keyof typeof orders)[]).every((field) => {
    const order: readonly unknown[] = orders[field];
    return order.indexOf(one[field]) >= order.indexOf(other[field]);
  });
}

test("[AX-9.1-2] [AX-9.2-2] what is believed is never less strict than the annotation, nor than what the hop below believes", () => {
  fc.assert(
    fc.property(annotation, annotation, fc.boolean(), (said, believed, isTrusted) => {
      const _meta = { "x-mcpax-capability": said, "x-mcpax-believed": believed };
      const read = capabilityOf({ name: "t", _meta }, isTrusted);
      expect(isAsStrict(read, readCapability(said))).toBe(true);
      expect(isAsStrict(read, readCapability(believed))).toBe(true);
    }),
  );
});

test("[AX-9.2-2] whatever hops on the way believe, the last one believes no less than each of them and the leaf", () => {
  fc.assert(
    fc.property(annotation, fc.array(annotation, { maxLength: 4 }), (said, hops) => {
      let read = readCapability(said);
      for (const lie of hops) {
        // A hop passes the annotation on, and writes what it likes beside it.
        const honest = capabilityOf({ _meta: { "x-mcpax-capability": said, "x-mcpax-believed": lie } }, true);
        expect(isAsStrict(honest, readCapability(said))).toBe(true);
        const after = capabilityOf(
          { _meta: { "x-mcpax-capability": said, "x-mcpax-believed": { ...read } } },
          true,
        );
        expect(isAsStrict(after, read)).toBe(true);
        read = after;
      }
    }),
  );
});

test("what a gateway believes is shown; of an older one, its annotation", () => {
  expect(
    believedOf({
      _meta: { "x-mcpax-capability": { mutable: false }, "x-mcpax-believed": { mutable: true } },
    }),
  ).toEqual({ mutable: true });
  expect(believedOf({ _meta: { "x-mcpax-capability": { mutable: false } } })).toEqual({ mutable: false });
  expect(believedOf({ _meta: { "x-mcpax-capability": "nonsense" } })).toEqual({});
  expect(believedOf({})).toEqual({});
});
