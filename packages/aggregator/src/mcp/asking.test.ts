import { expect, test } from "vitest";
import { refusalOf } from "./asking.ts";

const form = { method: "elicitation/create", params: { message: "a" } };
const url = { method: "elicitation/create", params: { mode: "url", url: "https://a" } };
const sampling = { method: "sampling/createMessage", params: { messages: [] } };
const withTools = { method: "sampling/createMessage", params: { messages: [], tools: [] } };
const roots = { method: "roots/list" };

test.each([
  [form, { elicitation: {} }],
  [form, { elicitation: { form: {} } }],
  [url, { elicitation: { url: {} } }],
  [sampling, { sampling: {} }],
  [withTools, { sampling: { tools: {} } }],
  [roots, { roots: { listChanged: true } }],
])("%j may be asked of who declared %j", (question, capabilities) => {
  expect(refusalOf(question, { era: "modern", capabilities })).toBeUndefined();
  expect(refusalOf(question, { era: "legacy", capabilities })).toBeUndefined();
});

test.each([
  [form, {}, { elicitation: { form: {} } }],
  [form, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  [url, { elicitation: {} }, { elicitation: { url: {} } }],
  [sampling, { sampling: true }, { sampling: {} }],
  [withTools, { sampling: {} }, { sampling: { tools: {} } }],
  [roots, {}, { roots: {} }],
])("%j may not be asked of who declared %j", (question, capabilities, requiredCapabilities) => {
  expect(refusalOf(question, { era: "modern", capabilities })?.fault).toMatchObject({
    code: -32021,
    data: { requiredCapabilities },
  });
  expect(refusalOf(question, { era: "legacy", capabilities })?.fault.code).toBe(-32601);
});

test("what is no question may not be asked of anybody", () => {
  const all = { elicitation: {}, sampling: {}, roots: {} };
  expect(refusalOf({ method: "tools/call" }, { era: "modern", capabilities: all })?.fault.code).toBe(-32601);
});
