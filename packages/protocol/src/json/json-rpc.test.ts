import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMcpxError } from "../errors.ts";
import { isObject, isRequestId, type JsonObject, type JsonRpcShape, jsonRpcShape } from "./json-rpc.ts";

const bodyOf = (text: string) => JSON.parse(`{"jsonrpc":"2.0",${text}}`) as JsonObject;

function reasonOf(payload: JsonObject): string | undefined {
  try {
    jsonRpcShape(payload);
  } catch (error) {
    if (isMcpxError(error)) return error.code;
    throw error;
  }
  return undefined;
}

describe("[X0-4.1-1] a payload of kind mcp is one JSON-RPC 2.0 message", () => {
  const taken: [text: string, shape: JsonRpcShape][] = [
    ['"id":1,"method":"tools/list"', "request"],
    ['"id":"a","method":"tools/call","params":{"name":"x"}', "request"],
    ['"id":"","method":"m","params":{}', "request"],
    ['"method":"notifications/initialized"', "notification"],
    ['"method":"notifications/progress","params":{"progress":1}', "notification"],
    ['"id":1,"result":{}', "response"],
    ['"id":"a","result":{"content":[]}', "response"],
    ['"id":1,"error":{"code":-32601,"message":"no"}', "response"],
    ['"id":null,"error":{"code":-32700,"message":"bad"}', "response"],
    ['"error":{"code":-32700,"message":"bad","data":{"reason":"x"}}', "response"],
    ['"id":1,"result":{},"extra":true,"methods":1,"_meta":{}', "response"],
    ['"id":1,"result":{"Method":"x","ID":1}', "response"],
  ];

  test.each(taken)("%s is a %s", (text, shape) => {
    expect(jsonRpcShape(bodyOf(text))).toBe(shape);
  });

  test.each([
    '"id":1',
    '"id":1,"method":"m","result":{}',
    '"id":1,"method":"m","error":{"code":1,"message":"m"}',
    '"id":1,"result":{},"error":{"code":1,"message":"m"}',
    '"id":1,"method":""',
    '"id":1,"method":1',
    '"id":1,"method":null',
    '"id":1,"method":null,"result":{}',
    '"id":null,"method":"m"',
    '"id":true,"method":"m"',
    '"id":[1],"method":"m"',
    '"id":{"a":1},"method":"m"',
    '"id":1,"method":"m","params":[1]',
    '"id":1,"method":"m","params":null',
    '"method":"m","params":"x"',
    '"result":{}',
    '"id":null,"result":{}',
    '"id":1,"result":null',
    '"id":1,"result":[]',
    '"id":1,"result":"ok"',
    '"id":{},"error":{"code":1,"message":"m"}',
    '"id":false,"error":{"code":1,"message":"m"}',
    '"id":1,"error":null',
    '"id":1,"error":"no"',
    '"id":1,"error":{"message":"m"}',
    '"id":1,"error":{"code":"1","message":"m"}',
    '"id":1,"error":{"code":1.5,"message":"m"}',
    '"id":1,"error":{"code":1e400,"message":"m"}',
    '"id":1,"error":{"code":1}',
    '"id":1,"error":{"code":1,"message":null}',
    '"__proto__":{"method":"m"}',
    '"__proto__":{"result":{}},"id":1',
    '"constructor":{"method":"m"}',
    // Look-alikes, for readers that ignore case.
    '"id":1,"result":{},"Method":"tools/call"',
    '"id":1,"result":{},"METHOD":"tools/call"',
    '"method":"m","ID":1',
    '"method":"m","\\u0131d":1',
    '"id":1,"method":"m","JSONRPC":"2.0"',
    '"id":1,"method":"m","Params":{"name":"x"}',
    '"id":1,"method":"m","param\\u017f":{"name":"x"}',
    '"id":1,"result":{},"Error":{"code":1,"message":"m"}',
    '"id":1,"error":{"code":1,"message":"m"},"reSult":{}',
  ])("%s is none", (text) => {
    expect(reasonOf(bodyOf(text))).toBe("bad_json_rpc");
  });

  test.each([undefined, null, 2, 2.0, "2", "2.00", " 2.0", "1.0", ["2.0"]])(
    "version %j is none",
    (jsonrpc) => {
      expect(reasonOf({ jsonrpc, id: 1, method: "m" })).toBe("bad_json_rpc");
    },
  );

  test("a version in the prototype is none", () => {
    expect(reasonOf(JSON.parse('{"__proto__":{"jsonrpc":"2.0"},"id":1,"method":"m"}'))).toBe("bad_json_rpc");
  });
});

describe("[X0-4.1-5] an id", () => {
  test.each([0, 42, -1, 1.5, Number.MAX_SAFE_INTEGER, Infinity, "", "42", "__proto__"])(
    "%j is one, of its type",
    (id) => {
      expect(isRequestId(id)).toBe(true);
      const payload = { jsonrpc: "2.0", method: "m", id };
      jsonRpcShape(payload);
      expect(payload.id).toBe(id);
    },
  );

  test.each([null, undefined, true, [], [1], {}, 1n])("%s is none", (id) => {
    expect(isRequestId(id)).toBe(false);
  });
});

/** MCP's, and all that rooms and trees add to them. */
const knownMethods = [
  ...[
    "initialize",
    "ping",
    "tools/call",
    "tools/list",
    "resources/read",
    "prompts/get",
    "completion/complete",
  ],
  ...["notifications/initialized", "notifications/cancelled", "notifications/chat/message"],
  ...["capabilities/request", "capabilities/approve", "tools/request"],
  ...["mcpax/register", "mcpax/confirm", "$/x", "anything at all"],
];
const methods = fc.oneof(fc.constantFrom(...knownMethods), fc.string({ unit: "grapheme", minLength: 1 }));

test("[X0-4.1-8] every method passes, and the payload stays as it is", () => {
  fc.assert(
    fc.property(methods, fc.dictionary(fc.string(), fc.jsonValue()), (method, params) => {
      const payload = { jsonrpc: "2.0", id: 1, method, params };
      const before = JSON.stringify(payload);
      expect(jsonRpcShape(payload)).toBe("request");
      expect(JSON.stringify(payload)).toBe(before);
    }),
  );
});

test.each(knownMethods)("[X1-3.2-1] [X1-4.1-1] %s has the shape of any other method", (method) => {
  expect(jsonRpcShape({ jsonrpc: "2.0", method, id: 1 })).toBe("request");
  expect(jsonRpcShape({ jsonrpc: "2.0", method })).toBe("notification");
});

test("[X1-3.2-1] [X1-4.1-1] no method changes the shape: none is known here, ours included", () => {
  fc.assert(
    fc.property(methods, fc.boolean(), (method, hasId) => {
      const payload = { jsonrpc: "2.0", method, ...(hasId ? { id: 1 } : {}) };
      expect(jsonRpcShape(payload)).toBe(hasId ? "request" : "notification");
    }),
  );
});

test("whatever the payload is, it has a shape or is refused", () => {
  const field = fc.oneof(fc.constantFrom("2.0", 1, null, "m", {}), fc.jsonValue());
  const payloads = fc.record(
    { jsonrpc: field, id: field, method: field, params: field, result: field, error: field },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(payloads, (payload) => {
      expect([undefined, "bad_json_rpc"]).toContain(reasonOf(payload));
    }),
  );
});

test.each([
  [{}, true],
  [JSON.parse('{"__proto__":1}'), true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ["{}", false],
  [() => {}, false],
])("an object is an object: case %#", (value, expected) => {
  expect(isObject(value)).toBe(expected);
});
