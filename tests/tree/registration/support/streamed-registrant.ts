// A stranger's registrant over HTTP, made of nothing but `fetch`: it is asked by its stream and answers by POST.
import { expect } from "vitest";
import { type Message, registrationOf } from "./raw-registrant.ts";

export interface StreamedRegistrant {
  session: string;
  token: string;
  answer: Promise<Message>;
  post(message: object, session?: string, token?: string): Promise<Response>;
  cut(): void;
}

export async function streamedRegistrant(
  url: string,
  token: string,
  segment: string,
  tools: readonly object[],
): Promise<StreamedRegistrant> {
  const stop = new AbortController();
  const first = Promise.withResolvers<Message>();
  const headers = (session?: string, bearer = token) => ({
    authorization: `Bearer ${bearer}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(session !== undefined && { "mcpax-session": session }),
  });
  const post = (message: object, session?: string, bearer?: string) =>
    fetch(`${url}/ax`, {
      method: "POST",
      headers: headers(session, bearer),
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      signal: stop.signal,
    });
  const response = await post({ id: "r", method: "mcpax/register", params: registrationOf(segment) });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const session = response.headers.get("mcpax-session") as string;

  async function answer({ id, method, params }: Message): Promise<void> {
    const say = (result: object) => post({ id, result }, session);
    if (method === "mcpax/parent") await say({ parent_id: null });
    else if (method === "server/discover")
      await say({ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    else if (method === "tools/list") await say({ resultType: "complete", tools });
    else if (method === "tools/call")
      await say({
        resultType: "complete",
        content: [{ type: "text", text: JSON.stringify(params.arguments) }],
      });
    else if (id !== undefined) await post({ id, error: { code: -32601, message: "no" } }, session);
  }

  async function read(): Promise<void> {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data: "));
        if (data === undefined) continue;
        const message = JSON.parse(data.slice(6));
        if (message.method === undefined) first.resolve(message);
        else await answer(message);
      }
    }
  }
  read().catch((error: unknown) => first.reject(error));
  first.promise.catch(() => {});
  return { session, token, post, answer: first.promise, cut: () => stop.abort() };
}
