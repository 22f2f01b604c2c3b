// A model that does what it is told: it calls one tool, looks at what comes of it, and ends. Speaks Anthropic's messages,
// OpenAI's responses and Google's contents, as a stream or as a whole, on this machine.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Told } from "./driver.ts";

// biome-ignore lint/suspicious/noExplicitAny: requests of other programs
type Body = any;

interface Plan {
  tool: string;
  args: Record<string, unknown>;
}

export interface ModelServer {
  readonly url: string;
  /** What it calls next; nothing where it is absent. */
  plan: Plan | undefined;
  /** What it calls once it has heard what became of that; nothing unless it is set. Anthropic's messages only. */
  next: ((told: Told) => Plan | undefined) | undefined;
  /** What it says in the end. Anthropic's messages only. */
  last: string;
  /** The names of the last request's tools. */
  tools: string[];
  /** What became of the plan. */
  told: Told | undefined;
  close(): Promise<void>;
}

export async function startModel(): Promise<ModelServer> {
  const http = createServer((request, response) => void answer(model, request, response));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const model: ModelServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    plan: undefined,
    next: undefined,
    last: "done",
    tools: [],
    told: undefined,
    async close() {
      http.closeAllConnections();
      http.close();
    },
  };
  return model;
}

async function answer(model: ModelServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString();
  const path = request.url?.split("?")[0] ?? "";
  const body: Body = text === "" ? {} : JSON.parse(text);
  const speak = languages.find(([ending]) => path.endsWith(ending))?.[1];
  if (speak === undefined) {
    response.writeHead(404, { "content-type": "application/json" }).end("{}");
    return;
  }
  const events = speak(model, body);
  // Google's has an address of its own for what is no stream, which nobody here uses.
  if (body.stream !== true && events.some(({ type }) => type !== undefined)) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(wholeOf(events)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    const head = event.type === undefined ? "" : `event: ${event.type}\n`;
    response.write(`${head}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** What a client puts together of the events of a stream. */
function wholeOf(events: readonly Body[]): Body {
  const last = events.at(-1);
  if (last.type === "response.completed") {
    return { object: "response", created_at: 0, model: "scripted", ...last.response };
  }
  const [{ message }, { content_block: block }, { delta }, , { delta: end }] = events as Body[];
  const content =
    delta.type === "text_delta"
      ? { ...block, text: delta.text }
      : { ...block, input: JSON.parse(delta.partial_json) };
  return { ...message, ...end, content: [content] };
}

/** By the end of the address. */
const languages: readonly [string, (model: ModelServer, body: Body) => Body[]][] = [
  ["/messages", messages],
  ["/responses", responses],
  [":streamGenerateContent", contents],
];

function messages(model: ModelServer, { tools = [], messages: said, model: name }: Body): Body[] {
  const names = tools.map((tool: Body) => tool.name);
  // Programs ask models for titles and the like, without tools.
  if (names.length > 0) model.tools = names;
  const results = said.at(-1).content.filter?.((part: Body) => part.type === "tool_result") ?? [];
  for (const { content, is_error } of results) {
    model.told = { text: JSON.stringify(content), isError: is_error === true };
  }
  const plan = results.length === 0 ? model.plan : model.told && model.next?.(model.told);
  const isCall = plan !== undefined && names.includes(plan.tool);
  const block = isCall
    ? { type: "tool_use", id: `toolu_${Date.now()}`, name: plan.tool, input: {} }
    : { type: "text", text: "" };
  const delta = isCall
    ? { type: "input_json_delta", partial_json: JSON.stringify(plan.args) }
    : { type: "text_delta", text: model.last };
  const usage = { input_tokens: 1, output_tokens: 1 };
  // Frameworks take messages of one id for one message.
  const id = `msg_${randomUUID()}`;
  const head = { id, type: "message", role: "assistant", content: [], model: name, usage };
  return [
    { type: "message_start", message: { ...head, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null },
      usage,
    },
    { type: "message_stop" },
  ];
}

function responses(model: ModelServer, { tools = [], input }: Body): Body[] {
  const flat = tools.flatMap((tool: Body) =>
    tool.type === "namespace"
      ? tool.tools.map((one: Body) => ({ name: one.name, namespace: tool.name }))
      : [{ name: tool.name }],
  );
  model.tools = flat.map(({ name }: Body) => name).filter((name: unknown) => typeof name === "string");
  const results = input.filter((item: Body) => item.type === "function_call_output");
  for (const { output } of results) {
    const text = typeof output === "string" ? output : JSON.stringify(output);
    model.told = { text, isError: /\(failed\)|"success":false|tool call error/.test(text) };
  }
  const { plan } = model;
  const found = plan && flat.find(({ name }: Body) => name === plan.tool);
  const item =
    plan !== undefined && found !== undefined && results.length === 0
      ? {
          type: "function_call",
          id: "fc_1",
          call_id: `call_${Date.now()}`,
          ...found,
          arguments: JSON.stringify(plan.args),
          status: "completed",
        }
      : {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "done", annotations: [] }],
        };
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
  return [
    { type: "response.created", response: { id: "resp_1" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [item], usage } },
  ];
}

function contents(model: ModelServer, { tools = [], contents: said = [] }: Body): Body[] {
  const names = tools.flatMap((tool: Body) => (tool.functionDeclarations ?? []).map((one: Body) => one.name));
  if (names.length > 0) model.tools = names;
  const results = said.at(-1)?.parts?.filter((part: Body) => part.functionResponse !== undefined) ?? [];
  for (const { functionResponse } of results) {
    const { response } = functionResponse;
    model.told = {
      text: JSON.stringify([response, said.at(-1).parts]),
      isError: response.error !== undefined,
    };
  }
  const { plan } = model;
  const isCall = plan !== undefined && results.length === 0 && names.includes(plan.tool);
  const part = isCall ? { functionCall: { name: plan.tool, args: plan.args } } : { text: "done" };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [
    {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata,
    },
  ];
}
