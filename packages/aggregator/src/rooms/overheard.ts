// What a member of a room asks, and everybody there reads the answer of: nothing is shown that only one is to open. Who
// asks is fixed here, so that what changes while the request is under way changes nothing of it. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { refusalOf } from "../mcp/asking.ts";
import type { Caller, Exchange, Question } from "../mcp/exchange.ts";

/** A copy: a session's caller is whoever has asked last. */
export function overheardCaller(caller: Caller): Caller {
  const { askAside } = caller;
  const heard = { ...caller, capabilities: withoutAddresses(caller.capabilities), isOverheard: true };
  if (askAside === undefined) return heard;
  return {
    ...heard,
    async askAside(question) {
      checkQuestion(question, heard);
      return await askAside(question);
    },
  };
}

export function overheard(exchange: Exchange): Exchange {
  const caller = overheardCaller(exchange.caller);
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

/** Addresses that servers give to one user are often all it takes to act for them. */
function withoutAddresses(capabilities: JsonObject): JsonObject {
  const { elicitation, ...others } = capabilities;
  if (!isObject(elicitation) || !Object.hasOwn(elicitation, "url")) return capabilities;
  const { url: _, ...modes } = elicitation;
  // Nothing in it would mean forms.
  return Object.keys(modes).length === 0 ? others : { ...others, elicitation: modes };
}
