import fc from "fast-check";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { removeProperty, setItems, setProperty } from "./edit-json.ts";

const set = (text: string, value: unknown = { command: "x" }) =>
  setProperty(text, ["mcpServers", "new"], value, "f");
const remove = (text: string, name: string) => removeProperty(text, ["mcpServers", name]);

test("a property goes behind the last one, and comments stay with what they are about", () => {
  const text = `{
  // servers
  "mcpServers": {
    "a": { "url": "http://a" }, // about a
    // about b
    "b": { "url": "http://b" } // also about b
    /* the end */
  },
  "mode": "open" // mode
}
`;
  expect(set(text)).toBe(
    text.replace(
      '"http://b" } // also about b\n    /* the end */\n',
      '"http://b" }, // also about b\n    /* the end */\n    "new": {\n      "command": "x"\n    }\n',
    ),
  );
});

test.each([
  ["", '{\n  "mcpServers": {\n    "new": 1\n  }\n}\n'],
  ["{}", '{\n  "mcpServers": {\n    "new": 1\n  }\n}'],
  ["{}\n", '{\n  "mcpServers": {\n    "new": 1\n  }\n}\n'],
  ['{ "a": 1 }', '{ "a": 1,\n  "mcpServers": {\n    "new": 1\n  }\n}'],
  ['{\n\t"a": 1,\n}\n', '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"new": 1\n\t},\n}\n'],
  [
    '{\r\n    "a": 1\r\n}\r\n',
    '{\r\n    "a": 1,\r\n    "mcpServers": {\r\n        "new": 1\r\n    }\r\n}\r\n',
  ],
  ['{\n  "mcpServers": {}\n}', '{\n  "mcpServers": {\n    "new": 1\n  }\n}'],
  [
    '{\n  "mcpServers": {\n    // none yet\n  }\n}',
    '{\n  "mcpServers": {\n    // none yet\n    "new": 1\n  }\n}',
  ],
  ['{\n  "mcpServers": { "new": {\n    "b": 2 } }\n}', '{\n  "mcpServers": { "new": 1 }\n}'],
])("into %j, in the style of the file", (text, expected) => {
  expect(set(text, 1)).toBe(expected);
});

test("what is taken out takes its comma and its line with it, and no comment of others", () => {
  const text = `{
  "mcpServers": {
    "a": 1, // about a
    // about b
    "b": {
      "url": "http://b"
    },
    "c": 3 // about c
  }
}`;
  expect(remove(text, "a")).toBe(text.replace('    "a": 1, // about a\n', "     // about a\n"));
  expect(remove(text, "b")).toBe(text.replace('    "b": {\n      "url": "http://b"\n    },\n', ""));
  expect(remove(text, "c")).toBe(text.replace('},\n    "c": 3 // about c', "}\n     // about c"));
  expect(remove('{ "mcpServers": { "a": 1 } }', "a")).toBe('{ "mcpServers": {} }');
  expect(remove('{ "mcpServers": { "a": 1, } }', "a")).toBe('{ "mcpServers": {  } }');
  expect(remove(text, "nobody")).toBe(text);
});

test("a place that is not an object is refused", () => {
  expect(() => set('{ "mcpServers": [] }')).toThrow("f: mcpServers is not an object");
});

test("whatever is put in is read back, and taken out again leaves all else", () => {
  const value = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string()), fc.constant({})));
  const space = fc.constantFrom(undefined, 2, 4, "\t");
  fc.assert(
    fc.property(value, value, fc.string({ minLength: 1 }), space, (others, entry, name, indent) => {
      const text = JSON.stringify({ first: 1, mcpServers: others, last: [2] }, null, indent);
      const after = setProperty(text, ["mcpServers", name], entry, "f");
      // By JSON itself: the parser of comments takes a key `__proto__` for the prototype.
      expect(JSON.stringify(JSON.parse(after).mcpServers[name])).toBe(JSON.stringify(entry));
      const { [name]: _, ...rest } = others;
      const back = JSON.parse(removeProperty(after, ["mcpServers", name]));
      expect(JSON.stringify(back)).toBe(JSON.stringify({ first: 1, mcpServers: rest, last: [2] }));
    }),
    { numRuns: 300 },
  );
});

const rulesText = `{
  // about gates
  "gates": {
    "rules": [
      // never
      { "tools": "a.**", "action": "deny" }, // agreed
      { "tools": "b", "action": "ask" }, /* two */ { "tools": "c", "action": "allow" }
      // more to come
    ],
    "quorum": 2
  }
}
`;
const items = (text: string, list: readonly (number | object)[]) =>
  setItems(text, ["gates", "rules"], list, "f");

test("items of a list change their order and places with the comments that are about them", () => {
  const added = { tools: "d", action: "ask" };
  expect(items(rulesText, [2, 0, added])).toBe(`{
  // about gates
  "gates": {
    "rules": [
      { "tools": "c", "action": "allow" },
      // never
      { "tools": "a.**", "action": "deny" }, // agreed
      {
        "tools": "d",
        "action": "ask"
      }
      // more to come
    ],
    "quorum": 2
  }
}
`);
});

test.each<[text: string, list: (number | object)[], after: string]>([
  ["", [{ a: 1 }], '{\n  "gates": {\n    "rules": [{"a":1}]\n  }\n}\n'],
  ['{"gates":{"rules":[{"a":1}]}}', [], '{"gates":{}}'],
  ['{"gates":{"rules":[{"a":1},{"b":2}]}}', [1], '{"gates":{"rules":[\n  {"b":2}\n]}}'],
])("items of the list in %j", (text, list, after) => {
  expect(items(text, list)).toBe(after);
});

test("whatever the order, the list reads as it was meant", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 6 }), (order) => {
      const before = parse(rulesText).gates.rules;
      expect(parse(items(rulesText, order)).gates.rules).toEqual(order.map((index) => before[index]));
    }),
  );
});
