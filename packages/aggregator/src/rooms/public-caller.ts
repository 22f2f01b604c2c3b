// A room member's request to the tree, whose answer the whole room reads: the answer must hold no address that is meant
// for one user. The caller is copied when the request begins, so that later changes do not affect it. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { refusalOf } from "../mcp/asking.ts";
import type { Caller, Exchange, Question } from "../mcp/exchange.ts";

/** A copy: the caller object of a session is changed by its next request. */
export function publicCaller(caller: Caller): Caller {
  const { askAside } = caller;
  const open = { ...caller, capabilities: withoutAddresses(caller.capabilities), isPublic: true };
  if (askAside === undefined) return open;
  return {
    ...open,
    async askAside(question) {
      checkQuestion(question, open);
      return await askAside(question);
    },
  };
}

export function publicExchange(exchange: Exchange): Exchange {
  const caller = publicCaller(exchange.caller);
  return {
    ...exchange,
    caller,
    async ask(questions) {
      for (const question of Object.values(questions)) checkQuestion(question, caller);
      return await exchange.ask(questions);
    },
  };
}

function checkQuestion(question: Question, caller: Caller): void {
  const refusal = refusalOf(question, caller);
  if (refusal !== undefined) throw refusal;
}

/** A sign-in address that a server gives to one user is often enough to act as that user. */
function withoutAddresses(capabilities: JsonObject): JsonObject {
  const { elicitation, ...others } = capabilities;
  if (!isObject(elicitation) || !Object.hasOwn(elicitation, "url")) return capabilities;
  const { url: _, ...modes } = elicitation;
  // An empty `elicitation` would declare forms.
  return Object.keys(modes).length === 0 ? others : { ...others, elicitation: modes };
}
