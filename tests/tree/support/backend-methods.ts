// What the raw server answers, whatever carries it. Its texts are made by hand: nothing of theirs is parsed and written
// again on the way.
import type { Fault } from "./faults.ts";

/** biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire */
export type Message = any;

export interface Mouth {
  /** One message. */
  write(text: string): void;
  /** One message, piece by piece, as fast as it is read. */
  stream(pieces: Iterator<string | Buffer>): void;
  /** Dies. */
  end(): void;
  /** Nothing more comes for this request. */
  done(): void;
}

export interface BackendOptions {
  isModern: boolean;
  record(what: object): void;
}

export interface Asked extends Mouth {
  id: number | string;
  params: Message;
  /** The request as it came. */
  raw: string;
  /** Sends the result, as this text. */
  answer(result: string): void;
  /** Sends a tool's text. */
  say(text: string): void;
}

const capabilities =
  '{"tools":{"listChanged":true},"prompts":{},"resources":{},"completions":{},"logging":{}}';

export function respond(
  message: Message,
  raw: string,
  fault: Fault,
  { isModern }: BackendOptions,
  mouth: Mouth,
): void {
  const { id, method, params } = message;
  if (id === undefined || method === undefined) return;
  const complete = isModern ? '"resultType":"complete",' : "";
  const answer = (result: string) => {
    mouth.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
    mouth.done();
  };
  const say = (text: string) =>
    answer(`{${complete}"content":[{"type":"text","text":${JSON.stringify(text)}}]}`);
  const asked: Asked = { ...mouth, id, params, raw, answer, say };
  switch (method) {
    case "server/discover":
      if (isModern)
        answer(
          `{${complete}"supportedVersions":["2026-07-28"],"capabilities":${capabilities},"ttlMs":0,"cacheScope":"public"}`,
        );
      else {
        mouth.write(
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"Method not found"}}`,
        );
        mouth.done();
      }
      return;
    case "initialize":
      answer(
        `{"protocolVersion":"2025-11-25","capabilities":${capabilities},"serverInfo":{"name":"backend","version":"1"}}`,
      );
      return;
    case "tools/list":
      if (fault.list === undefined) answer(toolsPage(["echo", "wait", "work"]));
      else fault.list(asked);
      return;
    case "tools/call":
      if (fault.call === undefined) callTool(asked);
      else fault.call(asked);
      return;
    case "prompts/list":
      answer('{"prompts":[{"name":"greet"}],"ttlMs":60000}');
      return;
    case "prompts/get":
      answer(`{${complete}"messages":[]}`);
      return;
    case "resources/list":
      answer('{"resources":[{"uri":"raw://one","name":"one"}],"ttlMs":60000}');
      return;
    case "resources/templates/list":
      answer('{"resourceTemplates":[],"ttlMs":60000}');
      return;
    case "resources/read":
      answer(`{${complete}"contents":[{"uri":"raw://one","text":"One"}]}`);
      return;
    case "completion/complete":
      answer(`{${complete}"completion":{"values":["a"]}}`);
      return;
    case "subscriptions/listen":
      mouth.write(
        `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":${JSON.stringify(id)}},"notifications":{"toolsListChanged":true}}}`,
      );
      return;
    default:
      answer("{}");
  }
}

/** `echo` gives back the text of its params; `work` its pid; `wait` nothing at all; anything else its name. */
export function callTool({ params, raw, answer, say }: Asked): void {
  if (params.name === "echo")
    answer(`{"content":[],"structuredContent":{"got":${/"params":(.*)\}$/s.exec(raw)?.[1]}}}`);
  else if (params.name === "work") say(String(process.pid));
  else if (params.name !== "wait") say(String(params.name));
}

export function toolsPage(names: Iterable<string>, more = ""): string {
  const tools = [...names].map((name) => `{"name":${JSON.stringify(name)},"inputSchema":{"type":"object"}}`);
  return `{"tools":[${tools.join(",")}],"ttlMs":60000${more}}`;
}
