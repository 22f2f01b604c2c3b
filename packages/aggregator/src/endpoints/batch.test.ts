import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { sharedReply } from "./batch.ts";
import type { Reply } from "./reply.ts";

function collected() {
  const answered: JsonObject[] = [];
  const reply: Reply = {
    isBehind: false,
    before() {},
    answer: (messages) => void answered.push(...[messages].flat()),
    drop() {},
    onCut() {},
  };
  return { answered, reply };
}

const answerOf = (id: number, chars: number) => ({ jsonrpc: "2.0", id, result: { text: "x".repeat(chars) } });

test("answers of a batch go out together; one that does not fit is an error in its place", () => {
  const { answered, reply } = collected();
  const parts = sharedReply(reply, 3);
  parts.answer(answerOf(1, 3_000_000));
  parts.answer(answerOf(2, 3_000_000));
  expect(answered).toEqual([]);
  parts.answer(answerOf(3, 1_000_000));
  expect(answered).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { message: expect.stringContaining("send this request alone") } },
    { id: 3, result: {} },
  ]);
});
