// The tree's endpoint on HTTP: `/mcp` and `/mcp/{profile}`, or the endpoints of rooms; both eras at one address. It lets callers
// in, tells the eras apart, and watches over what is open.
import {
  type ByteLedger,
  type Clock,
  createByteLedger,
  type Handler,
  type HttpRequest,
  type HttpResponse,
  type Identity,
  type Logger,
  type Principal,
  principalOf,
  type Route,
} from "@mcpx/host";
import { isMcpxError, type Limits, McpxError, quoteShort } from "@mcpx/protocol";
import { createAccounts } from "../mcp/accounts.ts";
import { CallTable } from "../mcp/call-table.ts";
import type { Caller } from "../mcp/exchange.ts";
import { checkMcpHeaders, checkVersionHeader, headerOf, paramHeadersOf } from "../mcp/mcp-headers.ts";
import { idOf, type Message, type RequestId, type RpcRequest, readMessage } from "../mcp/message.ts";
import { parseCounted } from "../mcp/parse.ts";
import type { Profiles } from "../mcp/profile.ts";
import { RpcError } from "../mcp/rpc-error.ts";
import type { Tree } from "../mcp/tree.ts";
import { dialectFor } from "./dialect-for.ts";
import { eraOf } from "./era-of.ts";
import { checkAccept, checkLegacyVersion, checkPost } from "./http-checks.ts";
import { createHttpReply, createPlainTrack, type HttpReply } from "./http-reply.ts";
import { waitForEnd, watchOver } from "./http-watch.ts";
import { createLegacy, type Visit } from "./legacy.ts";
import { createModern } from "./modern.ts";
import { Refusal, refusalResponse } from "./refusal.ts";
import { checkRevision, isModernRevision, readRequestMeta } from "./request-meta.ts";
import { challenged, metadataRoutes, type ResourceOptions } from "./resource-metadata.ts";

export interface HttpEndpointOptions extends ResourceOptions {
  tree: Tree;
  identity: Pick<Identity, "tokens" | "revocations">;
  log: Logger;
  clock: Clock;
  limits: Limits;
  /** What is held for principals, at all endpoints together; of this one alone unless given. */
  ledger?: ByteLedger | undefined;
  /** As they are at every moment. */
  profiles: Profiles;
  /** Where it stands; `/mcp` and `/mcp/:profile` unless given. */
  paths?: readonly string[] | undefined;
  /** Which place behind the endpoint an address is; throws where this principal has none there. */
  placeOf?: ((request: HttpRequest, principal: Principal) => string) | undefined;
  /** How often what is open is looked at; once a second unless given. */
  pulseMs?: number | undefined;
}

export interface HttpEndpoint {
  routes: Route[];
  /** Takes no more requests, ends what listens, and resolves when all others are answered, or after `graceMs`. */
  drain(options?: { graceMs?: number }): Promise<void>;
}

const noHeaders = {};

export function createHttpEndpoint(options: HttpEndpointOptions): HttpEndpoint {
  const { tree, identity, log, clock, limits, profiles } = options;
  const accounts = createAccounts(options.ledger ?? createByteLedger(limits));
  const open = new CallTable<HttpReply>();
  const modern = createModern({ tree, accounts, clock, log, limits });
  const legacy = createLegacy({ tree, accounts, clock, log, limits, open });
  let isDraining = false;

  async function enter(request: HttpRequest): Promise<Visit> {
    try {
      const principal = await principalOf(request, identity.tokens);
      const name = request.params.profile;
      const profile = name === undefined ? undefined : profiles.get(name);
      if (name !== undefined && profile === undefined)
        throw new McpxError("not_found", `there is no profile ${quoteShort(name)}`);
      return { request, principal, profile, place: options.placeOf?.(request, principal) };
    } catch (error) {
      throw challenged(options, request, error);
    }
  }

  function callModern(visit: Visit, message: RpcRequest, version: string | undefined): Promise<HttpResponse> {
    const { request, principal, profile, place } = visit;
    const { revision, capabilities, info, logLevel } = readRequestMeta(message.params);
    checkVersionHeader(version, revision);
    checkRevision(revision);
    checkMcpHeaders(request.headers, message);
    const account = accounts.of(principal);
    const caller: Caller = {
      principal,
      key: `principal:${account.key}`,
      era: "modern",
      capabilities,
      info,
      dialect: dialectFor({ names: request.query.get("names"), profile, capabilities }),
      profile,
      place,
      logLevel,
    };
    const now = clock.monotonic();
    const reply = createHttpReply({
      request,
      principal,
      id: message.id,
      now,
      open,
      createTrack: createPlainTrack,
      hold: account.hold,
    });
    const paramHeaders = message.method === "tools/call" ? paramHeadersOf(request.headers) : noHeaders;
    modern.serve({ message, caller, paramHeaders, reply });
    return reply.response;
  }

  function dispatch(visit: Visit, message: Message): Promise<HttpResponse> | HttpResponse {
    const { headers } = visit.request;
    const version = headerOf(headers, "mcp-protocol-version");
    if (isDraining && message.kind === "request") throw new McpxError("draining");
    if (message.kind !== "response" && eraOf(message, version) === "modern") {
      if (message.kind === "request") return callModern(visit, message, version);
      checkMcpHeaders(headers, message);
      return { status: 202 };
    }
    if (message.kind === "request" && message.method === "initialize")
      return legacy.initialize(visit, message);
    checkLegacyVersion(version);
    return legacy.post(legacy.find(visit), visit, message);
  }

  async function post(request: HttpRequest): Promise<HttpResponse> {
    let id: RequestId | null = null;
    try {
      const visit = await enter(request);
      checkPost(request);
      const body = parseCounted(await request.text());
      id = idOf(body);
      if (!Array.isArray(body)) return await dispatch(visit, readMessage(body));
      checkLegacyVersion(headerOf(request.headers, "mcp-protocol-version"));
      return await legacy.postBatch(legacy.find(visit), visit, body);
    } catch (error) {
      return refused(error, id);
    }
  }

  /** GET and DELETE: only legacy sessions have them. */
  function forSession(act: (visit: Visit) => HttpResponse): Handler {
    return async (request) => {
      try {
        const visit = await enter(request);
        const version = headerOf(request.headers, "mcp-protocol-version");
        if (request.method === "HEAD" || (version !== undefined && isModernRevision(version))) {
          throw new Refusal(405, new McpxError("method_not_allowed"), { allow: "POST" });
        }
        checkLegacyVersion(version);
        return act(visit);
      } catch (error) {
        return refused(error, null);
      }
    };
  }

  const get = forSession((visit) => {
    if (isDraining) throw new McpxError("draining");
    checkAccept(visit.request, "text/event-stream");
    return legacy.listen(legacy.find(visit), visit);
  });

  const remove = forSession((visit) => {
    legacy.end(legacy.find(visit));
    return {};
  });

  function refused(error: unknown, id: RequestId | null): HttpResponse {
    if (isMcpxError(error) || error instanceof RpcError || error instanceof Refusal) {
      log.debug({ reason: error.message }, "request refused");
    } else log.error({ err: error }, "request failed unexpectedly");
    return refusalResponse(error, id);
  }

  const { pulseMs = 1_000, paths = ["/mcp", "/mcp/:profile"] } = options;
  const stopWatching = watchOver({ open, accounts, modern, legacy, identity, clock, pulseMs });

  return {
    routes: [
      ...paths.flatMap((path): Route[] => [
        { method: "POST", path, handle: post, bodyBytesMax: limits.mcpBodyBytesMax },
        { method: "GET", path, handle: get },
        { method: "DELETE", path, handle: remove },
      ]),
      ...metadataRoutes(options),
    ],
    async drain({ graceMs = limits.drainMs } = {}) {
      isDraining = true;
      modern.drain();
      legacy.disconnect();
      await waitForEnd(open, graceMs);
      legacy.close();
      stopWatching();
    },
  };
}
