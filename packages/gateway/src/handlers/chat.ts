// Chat, in the form of either protocol. [X1-4.3-1] [X0-8.1-1]
import { checkChat, isV0Chat, jsonRpcShape } from "@mcpx/protocol";
import { type HandlerOutcome, type Handling, publish } from "../handling/handling.ts";

export function handleChat({ envelope }: Handling): HandlerOutcome {
  if (isV0Chat(envelope)) {
    jsonRpcShape(envelope.payload);
    checkChat(envelope.payload.params, "payload.params");
  } else {
    checkChat(envelope.payload, "payload");
  }
  return publish;
}
