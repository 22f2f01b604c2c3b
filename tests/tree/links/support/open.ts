// Links for tests: opened to something, everything they say is kept, and closed with the test.
import { join } from "node:path";
import {
  type Link,
  type LinkRequest,
  type OpenOptions,
  openLink,
  ownRequest,
  type Transport,
} from "@mcpx/aggregator";
import type { JsonObject } from "@mcpx/protocol";
import { onTestFinished } from "vitest";

interface Heard {
  notifications: [string, JsonObject][];
  questions: JsonObject[];
  logLines: string[];
}

export interface TestLink extends Heard {
  link: Link;
  /** A request, with what came before its answer. */
  ask(method: string, params?: JsonObject, more?: Partial<LinkRequest>): Promise<JsonObject>;
  /** The text of a tool's result, as JSON. */
  call(name: string, args?: JsonObject, more?: Partial<LinkRequest>): Promise<unknown>;
}

export async function openTo(transport: Transport, more: Partial<OpenOptions> = {}): Promise<TestLink> {
  const heard: Heard = { notifications: [], questions: [], logLines: [] };
  const link = await openLink(
    {
      name: "near",
      transport,
      clientInfo: { name: "test", version: "1" },
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      ...more,
    },
    {
      notification: (method, params) => void heard.notifications.push([method, params]),
      question: async (question) => {
        heard.questions.push({ ...question });
        return { roots: [] };
      },
      logLine: (line) => void heard.logLines.push(line),
    },
  );
  onTestFinished(() => link.close());
  const ask: TestLink["ask"] = (method, params = {}, rest = {}) =>
    link.request({ ...requestOf(method, params), ...rest });
  const call: TestLink["call"] = async (name, args = {}, rest = {}) => {
    const result = await ask("tools/call", { name, arguments: args }, rest);
    const [first] = result.content as { text: string }[];
    return JSON.parse(first?.text ?? "null");
  };
  return { link, ...heard, ask, call };
}

export function requestOf(method: string, params: JsonObject = {}): LinkRequest {
  return {
    ...ownRequest(method, new AbortController().signal, params),
    // Somebody's: questions and log messages may belong to it.
    ask: () => Promise.reject(new Error("nobody expected a question")),
  };
}

/** A program of ours as a stdio server. */
export function stdioOf(file: string, ...args: string[]): Transport {
  return {
    type: "stdio",
    command: process.execPath,
    args: [file, ...args],
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH },
  };
}

export function hostile(...args: string[]): Transport {
  return stdioOf(join(import.meta.dirname, "hostile-server.ts"), ...args);
}
