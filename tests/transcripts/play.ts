// Plays a transcript over real sockets. A transcript is text: its title, then steps, one a line, JSON indented below.
// Everything every participant receives must be written down, in order; at the end all inboxes are empty.
import type { TokenClaims } from "@mcpx/host";
import { TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";
import { filled, type Memory, mismatch } from "./matches.ts";

interface Step {
  line: number;
  words: string;
  /** The JSON below it, as written. */
  json: string | undefined;
}

export interface Transcript {
  title: string;
  steps: Step[];
}

export function readTranscript(text: string): Transcript {
  const [title = "", ...lines] = text.split("\n");
  const steps: Step[] = [];
  lines.forEach((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return;
    const last = steps.at(-1);
    if (/^\s/.test(line) && last !== undefined) last.json = `${last.json ?? ""}${line.trim()}\n`;
    else steps.push({ line: index + 2, words: line.trim(), json: undefined });
  });
  return { title, steps };
}

interface Stage {
  server: TestServer;
  topic: string;
  tokens: Map<string, string>;
  clients: Map<string, TestClient>;
  memory: Memory;
}

type Move = (stage: Stage, match: string[], step: Step) => Promise<void>;

const moves: readonly [RegExp, Move][] = [
  [/^topic (\S+)$/, setTopic],
  // `alice is a full human` — levels full, restricted, responder; `unnamed` has none in its token.
  [/^(\S+) is an? (full|restricted|responder|unnamed) (human|agent|robot)(?: called "(.+)")?$/, giveToken],
  [/^(\S+) is an admin$/, async (stage, [, id = ""]) => void stage.tokens.set(id, await stage.server.token({ sub: id, topics: ["**"], admin: true }))],
  [/^(\S+) joins(?: with (\S+))?$/, joinQuietly],
  [/^(\S+) connects(?: with (\S+))?$/, connect],
  [/^(\S+) cannot connect(?: with (\S+))?: (\d+) (\S+)$/, cannotConnect],
  [/^(\S+) sends$/, send],
  [/^(\S+) sends exactly$/, async (stage, [, id], { json }) => clientOf(stage, id).ws.send((json ?? "").trim())],
  [/^(\S+) receives$/, receive],
  [/^(\S+) receives nothing$/, receiveNothing],
  [/^(\S+) is acked as (\S+)$/, acked],
  [/^(\S+) leaves$/, leave],
  [/^(\S+) is closed with (\d+)$/, closedWith],
  [/^(\S+) (GET|POST|DELETE) (\S+) answers (\d+)$/, callRest],
  [/^the gateway restarts$/, async ({ server, clients }) => {
    await server.restart();
    clients.clear();
  }],
]; // biome-ignore format: one move a line

export async function play({ title, steps }: Transcript): Promise<void> {
  const server = await startTestServer(optionsOf(steps));
  const stage: Stage = {
    server,
    topic: "room:test",
    tokens: new Map(),
    clients: new Map(),
    memory: new Map(),
  };
  try {
    for (const step of steps) await playStep(stage, title, step);
    for (const [id, client] of stage.clients) {
      if (client.inbox.length > 0)
        throw new Error(`${title}: at the end ${id} still has ${show(client.inbox)}`);
    }
  } finally {
    await server.stop();
  }
}

async function playStep(stage: Stage, title: string, step: Step): Promise<void> {
  if (step.words === "configuration") return;
  for (const [pattern, move] of moves) {
    const match = pattern.exec(step.words);
    if (match === null) continue;
    try {
      return await move(stage, match, step);
    } catch (error) {
      throw new Error(`${title}\nline ${step.line}: ${step.words}\n${(error as Error).message}`);
    }
  }
  throw new Error(`${title}\nline ${step.line}: nobody knows how to "${step.words}"`);
}

/** The gateway's options and limits, where a transcript needs other than the defaults. */
function optionsOf(steps: readonly Step[]): TestServerOptions {
  const json = steps.find(({ words }) => words === "configuration")?.json;
  return json === undefined ? {} : (JSON.parse(json) as TestServerOptions);
}

async function setTopic(stage: Stage, [, topic = ""]: string[]): Promise<void> {
  stage.topic = topic;
}

async function giveToken(
  { server, topic, tokens }: Stage,
  [, id = "", level, kind, name]: string[],
): Promise<void> {
  const claims: TokenClaims = { sub: id, topics: [topic], kind: kind as "human", ...(name ? { name } : {}) };
  tokens.set(id, await server.token(level === "unnamed" ? claims : { ...claims, level: level as "full" }));
}

async function connect(stage: Stage, [, id = "", query = ""]: string[]): Promise<void> {
  const parameters = Object.fromEntries(new URLSearchParams(filledText(query, stage.memory)));
  const client = await TestClient.connect(stage.server.url, stage.tokens.get(id), {
    topic: stage.topic,
    ...parameters,
  });
  stage.clients.set(id, client);
}

/** Connects; the welcome and the others' presence are taken as said. */
async function joinQuietly(stage: Stage, match: string[]): Promise<void> {
  const id = match[1] ?? "";
  const others = [...stage.clients].filter(([other, client]) => other !== id && client.closed === undefined);
  await connect(stage, match);
  expectMessage(
    { kind: "system", payload: { event: "welcome" } },
    await clientOf(stage, id).next(),
    stage.memory,
  );
  for (const [, other] of others) {
    expectMessage(
      { kind: "presence", payload: { event: "join", participant: { id } } },
      await other.next(),
      stage.memory,
    );
  }
}

async function cannotConnect(stage: Stage, [, id = "", query = "", status, reason]: string[]): Promise<void> {
  const refusal = await connect(stage, ["", id, query]).then(
    () => "connected",
    (error: Error) => error.message,
  );
  if (refusal !== `${status} ${reason}`) throw new Error(`was ${refusal}`);
}

async function send(stage: Stage, [, id]: string[], { json }: Step): Promise<void> {
  clientOf(stage, id).ws.send(JSON.stringify(filled(JSON.parse(json ?? ""), stage.memory)));
}

async function receive(stage: Stage, [, id]: string[], { json }: Step): Promise<void> {
  expectMessage(JSON.parse(json ?? ""), await clientOf(stage, id).next(), stage.memory);
}

/** Whoever caused it has its answer already, so what there is to receive is on its way before our ping's pong. */
async function receiveNothing(stage: Stage, [, id]: string[]): Promise<void> {
  const client = clientOf(stage, id);
  await client.settled();
  if (client.inbox.length > 0) throw new Error(`received ${show(client.inbox)}`);
}

async function acked(stage: Stage, [, id, envelope]: string[]): Promise<void> {
  const expected = {
    kind: "system",
    from: "system:gateway",
    payload: { event: "ack", id: envelope, seq: "*", epoch: "*", at: "*" },
  };
  expectMessage(expected, await clientOf(stage, id).next(), stage.memory);
}

async function leave(stage: Stage, [, id = ""]: string[]): Promise<void> {
  await clientOf(stage, id).leave();
  stage.clients.delete(id);
}

async function closedWith(stage: Stage, [, id = "", code]: string[]): Promise<void> {
  const client = clientOf(stage, id);
  const closed = await client.closing();
  if (closed.code !== Number(code)) throw new Error(`was closed with ${closed.code} ${closed.reason}`);
  if (client.inbox.length > 0) throw new Error(`had received ${show(client.inbox)} before`);
  stage.clients.delete(id);
}

async function callRest(
  stage: Stage,
  [, id = "", method = "", path = "", status]: string[],
  { json }: Step,
): Promise<void> {
  const address = filledText(path, stage.memory);
  const answer = await stage.server.call(method, address, stage.tokens.get(id));
  if (answer.status !== Number(status)) throw new Error(`answered ${answer.status} ${show(answer.body)}`);
  if (json !== undefined) expectMessage(JSON.parse(json), answer.body, stage.memory);
}

function clientOf({ clients }: Stage, id = ""): TestClient {
  const client = clients.get(id);
  if (client === undefined) throw new Error(`${id} is not connected`);
  return client;
}

function expectMessage(expected: unknown, actual: unknown, memory: Memory): void {
  const difference = mismatch(expected, actual, memory);
  if (difference !== undefined) throw new Error(`${difference}\nin ${show(actual)}`);
}

function filledText(text: string, memory: Memory): string {
  return text.replace(/\$[a-z]+/g, (name) => String(memory.get(name) ?? name));
}

function show(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
