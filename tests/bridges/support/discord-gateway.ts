// Discord's gateway as its documentation has it: hello, identify or resume, sequence numbers, heartbeats, and the close
// codes for whoever does otherwise. What is missed while away is replayed to who resumes.
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";

interface Session {
  id: string;
  events: { s: number; t: string; d: unknown }[];
  socket: WebSocket | undefined;
}

export interface DiscordGateway {
  take(socket: WebSocket, request: IncomingMessage): void;
  /** To every session, those that are away too. */
  dispatch(event: string, data: unknown): void;
  /** Asks all to come back, or takes their sessions away. */
  reconnect(mayResume: boolean): void;
  connections(): number;
  /** What was done, in order: `identify`, `resume`. */
  readonly log: string[];
}

const neededIntents = (1 << 9) | (1 << 12) | (1 << 15);

export function createDiscordGateway(
  token: string,
  resumeUrl: (request: IncomingMessage) => string,
): DiscordGateway {
  const sessions = new Map<string, Session>();
  const log: string[] = [];
  let sequence = 0;
  const send = (socket: WebSocket, op: number, d: unknown, more: object = {}) =>
    socket.send(JSON.stringify({ op, d, s: null, t: null, ...more }));
  const tell = (session: Session, t: string, d: unknown) => {
    sequence += 1;
    session.events.push({ s: sequence, t, d });
    if (session.socket !== undefined) send(session.socket, 0, d, { s: sequence, t });
  };
  const identify = (socket: WebSocket, request: IncomingMessage, d: Record<string, unknown>) => {
    if (d.token !== token) return void socket.close(4004);
    if (typeof d.properties !== "object" || d.properties === null) return void socket.close(4002);
    if (d.intents !== neededIntents) return void socket.close(4014);
    log.push("identify");
    const session: Session = { id: randomUUID(), events: [], socket };
    sessions.set(session.id, session);
    tell(session, "READY", {
      ...{
        v: 10,
        user: { id: "1", username: "mcpx", bot: true },
        guilds: [],
        application: { id: "2", flags: 0 },
      },
      ...{ session_id: session.id, resume_gateway_url: resumeUrl(request), shard: [0, 1] },
    });
    return session;
  };
  const resume = (socket: WebSocket, d: Record<string, unknown>) => {
    const session = sessions.get(String(d.session_id));
    if (d.token !== token) return void socket.close(4004);
    if (session === undefined || typeof d.seq !== "number") return void send(socket, 9, false);
    log.push("resume");
    session.socket = socket;
    for (const event of session.events.filter(({ s }) => s > (d.seq as number)))
      send(socket, 0, event.d, event);
    tell(session, "RESUMED", {});
    return session;
  };
  return {
    log,
    connections: () => [...sessions.values()].filter(({ socket }) => socket !== undefined).length,
    dispatch(event, data) {
      for (const session of sessions.values()) tell(session, event, data);
    },
    reconnect(mayResume) {
      for (const session of [...sessions.values()]) {
        if (session.socket !== undefined) send(session.socket, mayResume ? 7 : 9, mayResume ? null : false);
        if (!mayResume) sessions.delete(session.id);
      }
    },
    take(socket, request) {
      const params = new URL(request.url ?? "", "http://x").searchParams;
      if (params.get("v") !== "10" || params.get("encoding") !== "json") return void socket.close(4012);
      let session: Session | undefined;
      send(socket, 10, { heartbeat_interval: 41_250 });
      socket.on("error", () => {});
      socket.on("close", (code) => {
        if (session?.socket === socket) session.socket = undefined;
        // Who says goodbye has no session any more.
        if (session !== undefined && [1000, 1001].includes(code)) sessions.delete(session.id);
      });
      socket.on("message", (data) => {
        const { op, d } = JSON.parse(String(data)) as { op: number; d: Record<string, unknown> };
        if (op === 1) send(socket, 11, null);
        else if (op === 2)
          session =
            session === undefined ? (identify(socket, request, d) ?? undefined) : void socket.close(4005);
        else if (op === 6) session = resume(socket, d) ?? undefined;
        else socket.close(session === undefined ? 4003 : 4001);
      });
    },
  };
}
