// Registers, gives its list, leaves, and comes again.
import { once } from "node:events";
import { register } from "../registrant.ts";
import type { Going, Verb } from "./attack.ts";

const againMs = 50;

export async function comeAndGo(
  verb: Verb & { way: "registrations" },
  { target, attack, tally, signal }: Going,
): Promise<void> {
  const tools = verb.list(attack.bytes);
  const { url, token } = target;
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
