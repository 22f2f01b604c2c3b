// Every client that is known, and the choice among them.
import { misuse } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";
import { claudeCode } from "./claude-code.ts";
import { claudeDesktop } from "./claude-desktop.ts";
import { type Client, clientIds } from "./client.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { vscode } from "./vscode.ts";

const clients: readonly Client[] = [claudeDesktop, claudeCode, cursor, vscode, codex, gemini, opencode];

export function clientOf(word: string): Client {
  const found = clients.find(({ id }) => id === word);
  if (found !== undefined) return found;
  const fix = suggestion(word, clientIds) ?? `known are ${clientIds.join(", ")}`;
  throw misuse(`there is no client ${JSON.stringify(word)}`, fix);
}

/** Those named, or all of them. */
export function clientsOf(words: readonly string[]): readonly Client[] {
  const named = words.map(clientOf);
  return words.length === 0 ? clients : clients.filter((client) => named.includes(client));
}
