// A server that registers at `/ax`, honest or not: it answers what the tree asks of it, with a list given as text.
import { randomUUID } from "node:crypto";
import WebSocket from "ws";

interface RegistrantOptions {
  url: string;
  /** `undefined`: it comes without one. */
  token: string | undefined;
  segment: string;
  /** A JSON array of tools, as it goes over the wire. */
  tools: string;
  heartbeatMs: number;
  /** What a call of one of its tools gives, as JSON; nothing at all where it is `undefined`. */
  resultOf?(tool: string): string | undefined;
}

export interface Registrant {
  readonly socket: WebSocket;
  readonly sessionId: string;
  /** When the tree has asked for the list, and got it. */
  readonly listed: Promise<void>;
  send(message: object): void;
}

/** Rejects with the reason or the close code where the tree refuses. */
export function register({
  url,
  token,
  segment,
  tools,
  heartbeatMs,
  resultOf,
}: RegistrantOptions): Promise<Registrant> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ax`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Registrant>();
  const listed = Promise.withResolvers<void>();
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  socket.on("error", (error) => reject(error));
  socket.on("close", (code) => {
    reject(new Error(`close ${code}`));
    listed.resolve();
  });
  socket.on("open", () => {
    const params = {
      subserver_id: randomUUID(),
      segment,
      capabilities: { tools: true, resources: false, prompts: false, notifications: true },
      heartbeat_interval_ms: heartbeatMs,
      transport_class: "websocket",
      version: "2026-05-01",
    };
    send({ id: "register", method: "mcpax/register", params });
  });
  socket.on("message", (data) => {
    const { id, method, params, result, error } = JSON.parse(String(data));
    if (method === undefined) {
      if (id !== "register") return;
      if (error !== undefined) reject(new Error(error.data?.reason ?? error.message));
      else resolve({ socket, sessionId: result.session_id, listed: listed.promise, send });
    } else if (id !== undefined) answer(id, method, params);
  });

  const complete = (result: object) => ({ result: { resultType: "complete", ...result } });
  const answers: Record<string, () => object> = {
    "mcpax/parent": () => ({ result: { parent_id: null } }),
    "server/discover": () =>
      complete({
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: segment, version: "1" },
      }),
  };

  function answer(id: unknown, method: string, params: { notifications?: unknown; name?: string }): void {
    // As text, so that what is large costs its sender nothing.
    const sendResult = (members: string) =>
      socket.send(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete",${members}}}`,
      );
    if (method === "tools/list") {
      sendResult(`"tools":${tools}`);
      listed.resolve();
    } else if (method === "tools/call" && resultOf !== undefined) {
      const content = resultOf(params.name ?? "");
      if (content !== undefined) sendResult(`"content":${content}`);
    } else if (method === "subscriptions/listen") {
      const _meta = { "io.modelcontextprotocol/subscriptionId": id };
      const { notifications } = params;
      send({ method: "notifications/subscriptions/acknowledged", params: { notifications, _meta } });
    } else {
      const known = answers[method]?.();
      send({ id, ...(known ?? { error: { code: -32_601, message: "Method not found" } }) });
    }
  }
  return promise;
}
