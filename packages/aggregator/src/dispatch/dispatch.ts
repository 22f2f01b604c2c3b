// Sends a request to a server and brings its result back, whatever the eras of the two sides: the straight part every
// verb shares. What only one era knows is bridged in `bridge.ts`.
import type { JsonObject, LatencyClass } from "@mcpx/protocol";
import { McpxError } from "@mcpx/protocol";
import { toldName } from "../catalogue/advice.ts";
import type { Link } from "../links/link.ts";
import { withAsker } from "../mcp/asker.ts";
import { CallDeadline, classMs } from "../mcp/call-deadline.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { entryFor } from "../servers/link-for.ts";
import { partLists } from "../servers/list-slots.ts";
import { isTree, type Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { answerQuestions, bridgeError, paramsFor } from "./bridge.ts";
import { withProofs } from "./joint-proofs.ts";
import { entryBeside, mayGoBeside } from "./legacy-beside.ts";

export interface Dispatch {
  /** The params that the server gets. */
  params: JsonObject;
  latency?: LatencyClass | undefined;
  paramHeaders?: Readonly<Record<string, string>> | undefined;
  /** Told what is about to leave; where it throws, nothing does. */
  sending?: ((params: JsonObject) => void) | undefined;
  /** Told how long the server took, answer or timeout, unless it asked somebody meanwhile. */
  took?: ((ms: number) => void) | undefined;
}

export async function dispatch(
  state: TreeState,
  exchange: Exchange,
  server: Server,
  wish: Dispatch,
): Promise<JsonObject> {
  const { caller } = exchange;
  const asked = { caller, method: exchange.method, params: wish.params };
  const beside = mayGoBeside(server, asked) ? await entryBeside(state, server, asked) : undefined;
  const entry = beside ?? entryFor(state, server, caller);
  // What it lists from now on may tell what this caller does.
  if (entry.owner !== undefined && !entry.isBeside) partLists(server, entry);
  const told = isTree(server)
    ? { ...wish, params: withProofs(withAsker(wish.params, caller), caller) }
    : wish;
  // From now on: others that begin meanwhile must see it.
  entry.inFlight += 1;
  try {
    // Most of the time it is open already, and waiting costs more than a look.
    return await sendOver(state, entry.link ?? (await entry.opening), exchange, server, told);
  } finally {
    entry.inFlight -= 1;
    entry.usedAt = state.clock.monotonic();
  }
}

async function sendOver(
  state: TreeState,
  link: Link,
  exchange: Exchange,
  server: Server,
  { params, latency = "standard", paramHeaders, sending, took }: Dispatch,
): Promise<JsonObject> {
  const { clock } = state;
  const startedAt = clock.monotonic();
  const { caller, method } = exchange;
  const ms = allowedMs(server, latency);
  const late = () => new McpxError("timeout", `${server.name} did not answer ${method} within ${ms} ms`);
  const deadline = new CallDeadline(ms, exchange.signal, late);
  const send = (sent: JsonObject) => {
    sending?.(sent);
    return link.request({
      method,
      params: sent,
      capabilities: caller.capabilities,
      info: caller.info,
      logLevel: caller.logLevel,
      wantsProgress: exchange.wantsProgress,
      paramHeaders,
      caller,
      nameFor: (tool) => toldName(state, caller, server, tool),
      signal: deadline.signal,
      notify(what, about) {
        if (what === "notifications/progress") deadline.extend();
        exchange.notify(what, about);
      },
      ask: (questions) => deadline.pausedFor(exchange.ask(questions)),
    });
  };
  try {
    const first = await send(paramsFor(link.facts.era, params));
    if (first.resultType !== "input_required" || caller.era === "modern") return first;
    const ask: Exchange["ask"] = (questions) => deadline.pausedFor(exchange.ask(questions));
    return await answerQuestions({ first, params, ask, send, server: server.name });
  } catch (error) {
    return bridgeError(error, link.facts.era, exchange);
  } finally {
    deadline.end();
    if (!deadline.wasPaused && !exchange.signal.aborted) took?.(clock.monotonic() - startedAt);
  }
}

/** A tree below waits for its own servers first, and shall be the one to say that they are late. [AX-7.3-2] */
const marginMs = 1_000;

function allowedMs(server: Server, latency: LatencyClass): number | undefined {
  const ms = server.callMs ?? classMs[latency];
  if (ms === undefined || ms === 0) return undefined;
  return isTree(server) ? ms + marginMs : ms;
}
