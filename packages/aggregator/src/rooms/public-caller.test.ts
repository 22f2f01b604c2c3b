import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { Exchange, Question } from "../mcp/exchange.ts";
import { innerPrincipal, plainCaller } from "../mcp/plain-caller.ts";
import { publicExchange } from "./public-caller.ts";

const form: Question = { method: "elicitation/create", params: { message: "?" } };
const address: Question = { method: "elicitation/create", params: { mode: "url", url: "https://a.example" } };

function exchangeOf(capabilities: JsonObject): Exchange {
  const askAside = async () => ({ action: "accept" });
  return {
    caller: { ...plainCaller(innerPrincipal("ada", ["**"]), "k"), capabilities, askAside },
    method: "tools/call",
    params: {},
    wantsProgress: false,
    paramHeaders: undefined,
    signal: new AbortController().signal,
    notify: () => {},
    ask: async () => ({ q: { action: "accept" } }),
  };
}

test("[B-TREE-1] nobody in a room is shown an address, whatever their client can; forms are", async () => {
  const given = exchangeOf({ elicitation: { form: {}, url: {} }, roots: {} });
  // Control: without the room it is shown.
  expect(await given.ask({ q: address })).toEqual({ q: { action: "accept" } });
  const { caller, ask } = publicExchange(given);
  expect(caller).toMatchObject({ isPublic: true });
  expect(caller.capabilities).toEqual({ elicitation: { form: {} }, roots: {} });
  await expect(ask({ q: address })).rejects.toThrow("has not declared elicitation");
  await expect(caller.askAside?.(address)).rejects.toThrow("has not declared elicitation");
  expect(await ask({ q: form })).toEqual({ q: { action: "accept" } });
  expect(await caller.askAside?.(form)).toEqual({ action: "accept" });
});

test("[B-TREE-1] who can only be shown addresses is not taken for one who fills in forms", async () => {
  expect(publicExchange(exchangeOf({ elicitation: { url: {} } })).caller.capabilities).toEqual({});
  expect(publicExchange(exchangeOf({ elicitation: {} })).caller.capabilities).toEqual({ elicitation: {} });
});

test("[B-TREE-1] who asks stays who asked", () => {
  let tools = ["a.*"];
  const given = exchangeOf({});
  const caller = { ...given.caller };
  Object.defineProperty(caller, "principal", { enumerable: true, get: () => innerPrincipal("ada", tools) });
  const heard = publicExchange({ ...given, caller });
  tools = ["**"];
  expect(heard.caller.principal.tools).toEqual(["a.*"]);
  expect(caller.principal.tools).toEqual(["**"]);
});
