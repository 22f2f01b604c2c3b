import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  deadlineMs,
  heartbeatMsMax,
  heartbeatMsMin,
  isUuid,
  leaseMs,
  readRegistration,
  readSubtreeIds,
  registrationVersion,
  subserverIdsKey,
  subtreeIdsKey,
  subtreeIdsMax,
  transportClasses,
} from "./registration.ts";

const id = "6f2d0c8e-1b7a-4c55-9d3e-0a1b2c3d4e5f";
const other = "00000000-0000-4000-8000-000000000001";

const least = {
  subserver_id: id,
  segment: "edge",
  capabilities: {},
  heartbeat_interval_ms: 5_000,
  transport_class: "websocket",
  version: registrationVersion,
};

const read = (more: Record<string, unknown> = {}) => readRegistration({ ...least, ...more });
const badParam = (field: string) =>
  expect.objectContaining({
    code: "bad_params",
    detail: expect.stringContaining(`params.${field} must be `),
  });

test("[AX-6.1-1] every field is read, and what was not asked for is not there", () => {
  const full = {
    ...least,
    authority: "dns:Edge01.Example.com",
    authority_proof: "a.b.c",
    capabilities: { tools: true, prompts: false },
    [subtreeIdsKey]: [id, other],
    [subserverIdsKey]: [other.toUpperCase(), other],
    "x-unknown": 1,
  };
  expect(readRegistration(full)).toEqual({
    subserverId: id,
    segment: "edge",
    authority: "edge01.example.com",
    authorityProof: "a.b.c",
    capabilities: { tools: true, resources: false, prompts: false, notifications: false },
    heartbeatMs: 5_000,
    transport: "websocket",
    version: registrationVersion,
    subtreeIds: [id, other],
    subserverIds: [other],
  });
  expect(read()).toMatchObject({
    authority: undefined,
    authorityProof: undefined,
    subtreeIds: undefined,
    subserverIds: [],
  });
});

const noText = [undefined, null, 7, true, {}, []];

const wrong: Record<string, readonly unknown[]> = {
  subserver_id: [
    ...noText,
    "",
    "edge",
    id.slice(1),
    `${id}0`,
    ` ${id}`,
    `${id}\n`,
    id.replaceAll("-", ""),
    `{${id}}`,
  ],
  segment: [
    ...noText,
    "",
    "a".repeat(64),
    "Edge",
    "a.b",
    "a/b",
    "a b",
    "edge\n",
    "еdge",
    "ｅdge",
    "ſ",
    "\u0000",
  ],
  authority_proof: [null, 7, {}, "", "x".repeat(8_193)],
  capabilities: [undefined, null, true, "tools", [], ["tools"]],
  heartbeat_interval_ms: [undefined, null, "5000", true, -1, -0.1, Number.NaN, Number.POSITIVE_INFINITY, {}],
  transport_class: [...noText, "", "WebSocket", "tcp", "toString", "constructor"],
  version: [...noText, "", "2026-05-02", "2026-05-01 ", 20_260_501],
  [subserverIdsKey]: [null, id, {}, [id, "edge"], [id, 7], [[id]], Array(20_001).fill(id)],
  [subtreeIdsKey]: [null, id, {}, [], [id, "edge"], [id, 7], [[id]], { length: 1, 0: id }],
};

describe.each(Object.entries(wrong))("[AX-6.1-2] %s", (field, values) => {
  test.each(values.map((value) => [value]))("%j is refused, with the field's name", (value) => {
    expect(() => read({ [field]: value })).toThrow(badParam(field));
  });
});

test.each(["tools", "resources", "prompts", "notifications"])(
  "[AX-6.1-2] capabilities.%s is true or false, nothing like it",
  (name) => {
    expect(read({ capabilities: { [name]: true } }).capabilities).toMatchObject({ [name]: true });
    expect(read({ capabilities: { [name]: false } }).capabilities).toMatchObject({ [name]: false });
    for (const value of [null, 1, 0, "true", "", {}, []]) {
      expect(() => read({ capabilities: { [name]: value } })).toThrow(badParam(`capabilities.${name}`));
    }
  },
);

test("[AX-6.1-2] what is inherited is not declared", () => {
  const capabilities = Object.create({ tools: "yes" });
  expect(() => read({ capabilities })).toThrow(badParam("capabilities.tools"));
});

test.each(transportClasses.map((name) => [name]))("[AX-6.1-2] %s is a transport class", (name) => {
  expect(read({ transport_class: name }).transport).toBe(name);
});

test("a UUID counts without its case", () => {
  expect(read({ subserver_id: id.toUpperCase() }).subserverId).toBe(id);
  expect([isUuid(id), isUuid(id.toUpperCase()), isUuid(undefined)]).toEqual([true, false, false]);
});

describe("authority", () => {
  test.each([
    "example.com",
    "DNS:example.com",
    " dns:example.com",
    "dns: example.com",
    "dns:",
    "dns:.",
    "dns:example.com.",
    "dns:.example.com",
    "dns:example..com",
    "dns:-edge.com",
    "dns:edge-.com",
    "dns:ed_ge.com",
    "dns:*.example.com",
    "dns:example.com:443",
    "dns:example.com/",
    "dns:example.com\n",
    "dns:exam\u0000ple.com",
    // Cyrillic and fullwidth look-alikes, a dot that is none, an invisible character, a letter that folds to `k`.
    "dns:еxample.com",
    "dns:exаmple.com",
    "dns:ｅxample.com",
    "dns:example。com",
    "dns:exam\u200bple.com",
    "dns:\u212aitchen.com",
    "dns:exämple.com",
    `dns:${"a".repeat(64)}.com`,
    `dns:${Array(64).fill("abc").join(".")}`,
    ...[null, 7, {}, []],
  ])("[AX-6.1-2] %j is none", (authority) => {
    expect(() => read({ authority })).toThrow(badParam("authority"));
  });

  test.each([
    ["dns:localhost", "localhost"],
    ["dns:a.b-c.D9", "a.b-c.d9"],
    ["dns:xn--exmple-cua.com", "xn--exmple-cua.com"],
    [`dns:${"a".repeat(63)}.com`, `${"a".repeat(63)}.com`],
  ])("%j is one", (authority, name) => {
    expect(read({ authority }).authority).toBe(name);
  });
});

describe("[AX-6.3-2] the interval of heartbeats", () => {
  test("0 is none, all others are brought within bounds, in whole milliseconds", () => {
    const ms = (heartbeat_interval_ms: number) => read({ heartbeat_interval_ms }).heartbeatMs;
    expect([0, -0].map(ms)).toEqual([0, 0]);
    expect([0.001, 1, 99, 100, 100.4, 5_000, 1e9].map(ms)).toEqual([
      heartbeatMsMin,
      heartbeatMsMin,
      heartbeatMsMin,
      100,
      100,
      5_000,
      heartbeatMsMax,
    ]);
  });

  test("[AX-6.2-1] [AX-6.3-1] [AX-13.3-3] three missed end it, and the lease is over before that", () => {
    expect([deadlineMs(5_000), leaseMs(5_000)]).toEqual([15_000, 10_000]);
    expect([deadlineMs(0), leaseMs(0)]).toEqual([0, 0]);
    fc.assert(
      fc.property(fc.integer({ min: heartbeatMsMin, max: heartbeatMsMax }), (ms) => {
        expect(leaseMs(ms)).toBeGreaterThan(ms);
        expect(leaseMs(ms)).toBeLessThan(deadlineMs(ms));
      }),
    );
  });
});

describe("[AX-5.3-2] the ids of a subtree", () => {
  const ids = (count: number) =>
    Array.from({ length: count }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`);

  test("each is there once, in the order given, without case", () => {
    expect(readSubtreeIds([id.toUpperCase(), other, id])).toEqual([id, other]);
    expect(readSubtreeIds(undefined)).toBeUndefined();
  });

  test("as many as are allowed are taken, one more is not", () => {
    expect(readSubtreeIds(ids(subtreeIdsMax))).toHaveLength(subtreeIdsMax);
    expect(() => readSubtreeIds(ids(subtreeIdsMax + 1))).toThrow(badParam(subtreeIdsKey));
  });

  test("a hundred thousand are refused without being looked at", () => {
    let looks = 0;
    const many = new Proxy(ids(100_000), {
      get: (target, key, receiver) => {
        if (key !== "length") looks += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    expect(() => read({ [subtreeIdsKey]: many })).toThrow(badParam(subtreeIdsKey));
    expect(looks).toBe(0);
  });
});

test("whatever comes is read or refused with `bad_params`, and never anything else", () => {
  const field = fc.constantFrom(...Object.keys(least), "authority", "authority_proof", subtreeIdsKey);
  fc.assert(
    fc.property(field, fc.jsonValue(), (name, value) => {
      try {
        read({ [name]: value });
      } catch (error) {
        expect(error).toMatchObject({ code: "bad_params" });
      }
    }),
  );
});
