// For the operator: the bridges that run and how they are, codes that link people, the end of a link, and whose presses
// count as approvals.
import { localRoute, operatorRoute, sentencesOf } from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest, Identity, Principal, Route } from "@mcpx/host";
import { isLevel, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { GateAuthority } from "../server/open-gates.ts";
import { endLink } from "./bridge-records.ts";
import { isLinkable, makeCode } from "./make-code.ts";
import type { OpenBridges } from "./open-bridges.ts";
import { pressChanges, pressesOf } from "./press-authority.ts";

export interface BridgeRoutesOptions {
  identity: Pick<Identity, "tokens" | "secret" | "revocations">;
  audit: Audit;
  clock: Clock;
  authority: Pick<GateAuthority, "chain" | "cards">;
  bridges: () => OpenBridges | undefined;
}

const path = "/admin/bridges";

export function bridgeRoutes(options: BridgeRoutesOptions): Route[] {
  const { identity, audit } = options;
  const guard = { identity, audit };
  const list = async () => ({ body: { bridges: (await options.bridges()?.facts()) ?? [] } });
  return [
    operatorRoute(guard, "GET", path, list),
    localRoute(guard, "POST", `${path}/:name/codes`, async (by, request) => ({
      status: 201,
      body: await code(options, by, request),
    })),
    operatorRoute(guard, "DELETE", `${path}/:name/links/:user`, async (by, request) => ({
      body: await unlink(options, by, request),
    })),
    localRoute(guard, "POST", `${path}/:name/presses`, async (_by, request) => {
      await request.text();
      return { body: await countPresses(options, request) };
    }),
    operatorRoute(guard, "DELETE", `${path}/:name/presses`, async (_by, request) => ({
      body: await endPresses(options, request),
    })),
  ];
}

function known({ bridges }: BridgeRoutesOptions, { params }: HttpRequest) {
  const open = bridges();
  const bridge = open?.find(params.name ?? "");
  if (open === undefined || bridge === undefined) throw new McpxError("not_found", "there is no such bridge");
  return { open, bridge };
}

async function code(
  options: BridgeRoutesOptions,
  { id }: Principal,
  request: HttpRequest,
): Promise<JsonObject> {
  const { open, bridge } = known(options, request);
  const body = await request.json();
  const { participant, level } = isObject(body) ? body : {};
  if (typeof participant !== "string" || !isLinkable(participant)) {
    throw new McpxError("bad_request", "nobody can be linked to this participant", {
      suggestion: "Name a participant, for example alice",
    });
  }
  if (level !== undefined && !isLevel(level))
    throw new McpxError("bad_request", "level must be full, responder or restricted");
  const parts = { store: open.store, audit: options.audit, actor: id ?? "admin" };
  const wish = { bridge: bridge.name, participant, level };
  const made = await makeCode(parts, wish, options.clock.now());
  if (made === undefined) {
    throw new McpxError("rate_limited", "too many codes wait to be used", {
      suggestion: "Try again in ten minutes",
    });
  }
  return { code: made.code, expires_at: new Date(made.expiresAt).toISOString() };
}

async function unlink(
  options: BridgeRoutesOptions,
  { id }: Principal,
  request: HttpRequest,
): Promise<JsonObject> {
  const { open, bridge } = known(options, request);
  const link = await open.store.linkOf(bridge.name, request.params.user ?? "");
  if (link === undefined) throw new McpxError("not_found", "nobody is linked as this user");
  const { identity, audit } = options;
  await endLink({ store: open.store, identity, audit, actor: id ?? "admin" }, link);
  return { user: link.user, participant: link.participant };
}

/** What an approver has to sign waits as a card; `waits` is its gate. */
async function countPresses(options: BridgeRoutesOptions, request: HttpRequest): Promise<JsonObject> {
  const { open, bridge } = known(options, request);
  const { chain, cards } = options.authority;
  const links = await open.store.links(bridge.name);
  const changes = pressChanges(chain.now().state, options.identity, bridge, links);
  const what = sentencesOf(chain.now().state, changes);
  const held = await chain.settle(() => changes);
  const source = sourceOf(bridge.name);
  const waits = (await cards.want(source, held)).get(source) ?? null;
  return { what, waits };
}

/** Ends approval by button. Making gates stricter needs no signature. */
async function endPresses(options: BridgeRoutesOptions, request: HttpRequest): Promise<JsonObject> {
  const { bridge } = known(options, request);
  const { chain, cards } = options.authority;
  // What waits for a signature is not wanted any more.
  await cards.want(sourceOf(bridge.name), []);
  const changes = pressesOf(chain.now().state, bridge.name).map((key) => ({ key, value: null }));
  const what = sentencesOf(chain.now().state, changes);
  await chain.settle(() => changes);
  return { what };
}

/** The source of these changes, by which their card is found. */
function sourceOf(bridge: string): string {
  return `bridge/${encodeURIComponent(bridge)}`;
}
