// Batches: many messages at once, for the one revision that has them.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { errorMessage, type Message, type RequestId, readMessage, textOf } from "../mcp/message.ts";
import { faultOf, rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Reply } from "./reply.ts";
import { hasClaim } from "./request-meta.ts";

const batchMax = 100;
/** Characters of all answers together: they go out in one piece. */
const answerCharsMax = 4 * 1_048_576;

/** Throws -32600 for a batch that is none, or comes in another revision. */
export function readBatch(revision: string | undefined, values: readonly unknown[]): Message[] {
  if (revision !== "2025-03-26") throw bad("only revision 2025-03-26 has batches");
  if (values.length === 0 || values.length > batchMax) throw bad(`a batch has 1 to ${batchMax} messages`);
  const messages = values.map(readMessage);
  for (const message of messages) {
    if (message.kind === "response") continue;
    if (message.method === "initialize") throw bad("initialize must be sent alone, not in a batch");
    if (hasClaim(message.params)) throw bad("requests of the modern era must be sent alone, not in a batch");
  }
  return messages;
}

/** One reply for all requests of a batch: answered when all are. An answer that does not fit is an error in its place. */
export function sharedReply(reply: Reply, count: number): Reply {
  const answers: JsonObject[] = [];
  let open = count;
  let chars = 0;
  const fitting = (message: JsonObject): JsonObject => {
    const length = textOf(message).length;
    if (chars + length > answerCharsMax) return errorMessage((message.id as RequestId) ?? null, tooLarge);
    chars += length;
    return message;
  };
  const settle = () => {
    open -= 1;
    if (open > 0) return;
    if (answers.length > 0) reply.answer(answers);
    else reply.drop();
  };
  return {
    get isBehind() {
      return reply.isBehind;
    },
    before: reply.before,
    onCut: reply.onCut,
    answer(message) {
      answers.push(...[message].flat().map(fitting));
      settle();
    },
    drop: settle,
  };
}

const tooLarge = faultOf(
  new McpxError(
    "too_large",
    `the answers of a batch may have ${answerCharsMax} characters; send this request alone`,
  ),
);

function bad(detail: string) {
  return rpcError(rpcCodes.invalidRequest, `Invalid Request: ${detail}`);
}
