// Registers, gives its list, leaves, and comes again.
import { once } from "node:events";
import { register } from "../registrant.ts";
import type { Going, Verb } from "./attack.ts";
import { tokenOf } from "./request-bytes.ts";

const againMs = 50;

type Registrations = Verb & { way: "registrations" };

/** Only one at a time has the segment; the others are refused. */
export function comeAndGo(verb: Registrations, going: Going): void {
  const tools = verb.list(going.attack.bytes);
  for (let lane = 0; lane < going.attack.concurrency; lane += 1) void goOn(tools, going);
}

async function goOn(tools: string, { target, attack, tally, signal }: Going): Promise<void> {
  const { url } = target;
  const token = tokenOf(target, attack.as);
  while (!signal.aborted) {
    try {
      const server = await register({ url, token, segment: "evil", tools, heartbeatMs: 0 });
      signal.addEventListener("abort", () => server.socket.terminate());
      tally.send(tools.length);
      await server.listed;
      const closed = once(server.socket, "close");
      server.send({ id: "leave", method: "mcpax/deregister", params: { session_id: server.sessionId } });
      const [code] = await closed;
      tally.answer(`close ${code}`);
    } catch (error) {
      tally.answer((error as Error).message);
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}
