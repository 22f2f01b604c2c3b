// A welcome that carries envelopes of before, taken apart without changing a byte of them.
import { findNodeAtLocation, parseTree } from "jsonc-parser";

/** The welcome with an empty list, and the texts that stood in it. */
export function splitWelcome(text: string): { welcome: string; recent: string[] } {
  const root = parseTree(text);
  const list = root && findNodeAtLocation(root, ["payload", "history", "envelopes"]);
  if (list?.type !== "array") return { welcome: text, recent: [] };
  const recent = (list.children ?? []).map(({ offset, length }) => text.slice(offset, offset + length));
  const welcome = `${text.slice(0, list.offset)}[]${text.slice(list.offset + list.length)}`;
  return { welcome, recent };
}
