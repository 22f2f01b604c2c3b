// One text for parameters that mean the same: the order of keys does not count, nor `_meta`, which carries what nobody
// proposed. Made once for each, so that a call is compared with a thousand proposals at the cost of one.
import { isObject } from "@mcpx/protocol";

const meanings = new WeakMap<object, unknown>();

export function meaningOf(params: unknown): unknown {
  if (!isObject(params)) return "{}";
  let meaning = meanings.get(params);
  try {
    meaning ??= JSON.stringify({ ...params, _meta: undefined }, inOrder);
  } catch {
    // Nested too deep to be written, which no gateway of mcpx allows: it equals nothing else.
    meaning = params;
  }
  meanings.set(params, meaning);
  return meaning;
}

function inOrder(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, value[key]]),
  );
}
