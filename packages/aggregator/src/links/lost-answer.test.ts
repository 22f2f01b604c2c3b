import { expect, test } from "vitest";
import { answerIdIn } from "./lost-answer.ts";

test.each([
  ['{"jsonrpc":"2.0","id":7,"result":{"te', 'xxx"}}', 7],
  ['{"id" : "a-1", "result":{"te', 'xxx"}}', "a-1"],
  ['{"result":{"text":"xxx', 'xxx"},"jsonrpc":"2.0","id":12}', 12],
  ['{"result":{"text":"xxx', 'xxx"}, "id":12, "jsonrpc":"2.0"}\r', 12],
  ['{"result":{"text":"xxx', 'xxx","id":12}}', undefined],
  ['{"result":{"id":3,"text":"xxx', "xxx}", undefined],
])("the id of %s…%s is %s", (head, tail, id) => {
  expect(answerIdIn(head, tail)).toBe(id);
});
