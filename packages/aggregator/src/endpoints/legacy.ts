// Legacy MCP over HTTP: sessions by header, answers as JSON or streams, batches for the one revision that has them.
import { randomUUID } from "node:crypto";
import type { Clock, HttpRequest, HttpResponse, Logger, Principal } from "@mcpx/host";
import { type Limits, McpxError } from "@mcpx/protocol";
import type { Accounts } from "../mcp/accounts.ts";
import type { CallTable } from "../mcp/call-table.ts";
import { type Message, type RequestId, type RpcRequest, resultMessage } from "../mcp/message.ts";
import type { Profile } from "../mcp/profile.ts";
import type { Tree } from "../mcp/tree.ts";
import { readBatch, sharedReply } from "./batch.ts";
import { dialectFor } from "./dialect-for.ts";
import { readHello } from "./hello.ts";
import { createHttpReply, type HttpReply } from "./http-reply.ts";
import { createLegacySession } from "./legacy-session.ts";
import { jsonResponse } from "./refusal.ts";
import { createSessionStreams } from "./session-streams.ts";
import { createSessions, type HttpSession, newSessionId } from "./sessions.ts";

export interface LegacyOptions {
  tree: Tree;
  accounts: Accounts;
  clock: Clock;
  log: Logger;
  limits: Limits;
  /** All replies that are open. */
  open: CallTable<HttpReply>;
}

/** Who sent something, and to which address. */
export interface Visit {
  request: HttpRequest;
  principal: Principal;
  profile: Profile | undefined;
  place: string | undefined;
}

export interface Legacy {
  initialize(visit: Visit, message: RpcRequest): Promise<HttpResponse>;
  /** Throws `session_unknown`, or `bad_request` without a session. */
  find(visit: Visit): HttpSession;
  post(session: HttpSession, visit: Visit, message: Message): Promise<HttpResponse> | HttpResponse;
  postBatch(
    session: HttpSession,
    visit: Visit,
    values: readonly unknown[],
  ): Promise<HttpResponse> | HttpResponse;
  listen(session: HttpSession, visit: Visit): HttpResponse;
  end(session: HttpSession): void;
  /** A token is no longer good. */
  revoke(jti: string): void;
  sweep(): void;
  /** Ends the streams for what belongs to no request. */
  disconnect(): void;
  close(): void;
}

export function createLegacy({ tree, accounts, clock, log, limits, open }: LegacyOptions): Legacy {
  const sessions = createSessions({ clock, limits });

  function replyTo({ request, principal }: Visit, session: HttpSession, id: RequestId | null): HttpReply {
    const { createTrack } = session.streams;
    const { hold } = session.account;
    return createHttpReply({ request, principal, id, now: clock.monotonic(), open, createTrack, hold });
  }

  async function initialize(visit: Visit, message: RpcRequest): Promise<HttpResponse> {
    const { request, principal, profile, place } = visit;
    const account = accounts.of(principal);
    const hello = readHello(message.params);
    sessions.admit(account);
    const isPrimed = hello.revision === "2025-11-25";
    const streams = createSessionStreams({ isPrimed, clock, limits, hold: account.hold });
    const core = createLegacySession({
      tree,
      log,
      limits,
      account,
      principal: () => session.principal,
      key: `session:${randomUUID()}`,
      dialect: dialectFor({
        names: request.query.get("names"),
        profile,
        capabilities: hello.capabilities,
      }),
      profile,
      place,
      hello,
      aside: streams,
    });
    const session: HttpSession = {
      id: newSessionId(),
      account,
      profile: profile?.name,
      place,
      core,
      streams,
      principal,
      listener: undefined,
      usedAt: clock.monotonic(),
    };
    // Before anything is waited for: many at once must not get past the bound.
    sessions.add(session);
    try {
      const result = await core.greet();
      return jsonResponse(resultMessage(message.id, result), 200, { "mcp-session-id": session.id });
    } catch (error) {
      sessions.end(session);
      throw error;
    }
  }

  function take({ core }: HttpSession, message: Message): void {
    if (message.kind === "notification") core.notification(message);
    else if (message.kind === "response") core.response(message);
  }

  return {
    initialize,
    find({ request, principal, profile, place }) {
      const at = { profile: profile?.name, place };
      const session = sessions.find(sessionIdOf(request), accounts.of(principal), at);
      session.principal = principal;
      return session;
    },
    post(session, visit, message) {
      if (message.kind !== "request") {
        take(session, message);
        return { status: 202 };
      }
      const reply = replyTo(visit, session, message.id);
      session.core.request(message, reply);
      return reply.response;
    },
    async postBatch(session, visit, values) {
      const messages = readBatch(session.core.revision, values);
      for (const message of messages) take(session, message);
      const requests = messages.filter((message) => message.kind === "request");
      if (requests.length === 0) return { status: 202 };
      const reply = replyTo(visit, session, null);
      const parts = sharedReply(reply, requests.length);
      for (const message of requests) {
        // Each is as much work as a request that comes alone.
        await visit.request.nextTurn();
        session.core.request(message, parts);
      }
      return reply.response;
    },
    listen(session, { request, principal }) {
      const lastEventId = request.headers["last-event-id"];
      session.listener = principal;
      return session.streams.connect(request, typeof lastEventId === "string" ? lastEventId : undefined);
    },
    end: sessions.end,
    revoke(jti) {
      for (const session of sessions.all()) {
        if (session.principal.jti === jti) sessions.end(session);
        else if (session.listener?.jti === jti) session.streams.disconnect();
      }
    },
    sweep() {
      const now = clock.now();
      for (const { streams, listener } of sessions.all()) {
        if (listener !== undefined && listener.expiresAt <= now && streams.isOpen) streams.disconnect();
        streams.sweep();
      }
      sessions.sweep();
    },
    disconnect() {
      for (const { streams } of sessions.all()) streams.disconnect();
    },
    close() {
      for (const session of sessions.all()) sessions.end(session);
    },
  };
}

/** Node joins repeated headers with a comma, and no session id has one. */
function sessionIdOf({ headers }: HttpRequest): string {
  const id = headers["mcp-session-id"];
  if (typeof id !== "string" || id.includes(",")) {
    throw new McpxError("bad_request", "there must be exactly one Mcp-Session-Id header", {
      suggestion: "Initialize, then send the Mcp-Session-Id of the answer",
    });
  }
  return id;
}
