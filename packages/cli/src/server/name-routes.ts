// GET /admin/names: names of what there is here, for who completes a command line. The key stands in a file that only
// the owner of the data directory reads; a user who has it could sign any token with what lies beside it.
import { hash, timingSafeEqual } from "node:crypto";
import { type KnownNames, knownNames, type RunningTree } from "@mcpx/aggregator";
import { ProposalTracker, type RoomEnvelope } from "@mcpx/client";
import type { RunningGateway } from "@mcpx/gateway";
import { bearerToken, type Clock, type HttpRequest, type Route } from "@mcpx/host";
import { defaultLimits, isId, isObject, McpxError, timestampMs } from "@mcpx/protocol";
import { ownPrincipal } from "../access/local-gateway.ts";
import { type NameKind, nameKinds } from "../framework/command.ts";

export interface NameRoutesOptions {
  key: string;
  rooms: Pick<RunningGateway, "topics" | "presentIn" | "history">;
  tree: Pick<RunningTree, "state">;
  clock: Pick<Clock, "now">;
}

const namesMax = 2_000;

export function nameRoutes(options: NameRoutesOptions): Route[] {
  const handle = async (request: HttpRequest) => {
    checkKey(bearerToken(request), options.key);
    const kind = nameKinds.find((one) => one === request.query.get("of"));
    if (kind === undefined) throw new McpxError("bad_request", `of must be one of ${nameKinds.join(", ")}`);
    const names = await namesOf(options, kind, request.query.get("room"));
    return { body: { names: names.slice(0, namesMax) } };
  };
  return [{ method: "GET", path: "/admin/names", handle }];
}

function checkKey(given: string, key: string): void {
  const [a, b] = [given, key].map((one) => hash("sha256", one, "buffer"));
  if (a === undefined || b === undefined || !timingSafeEqual(a, b)) throw new McpxError("unauthorised");
}

async function namesOf(
  options: NameRoutesOptions,
  kind: NameKind,
  room: string | null,
): Promise<readonly string[]> {
  const { rooms, tree } = options;
  const known = knownNames(tree.state);
  if (kind === "room") return rooms.topics();
  if (kind === "participant") return room === null ? [] : rooms.presentIn(room);
  if (kind === "proposal") return isId(room) ? pendingIn(options, room) : [];
  return ofTree[kind](known);
}

const ofTree: Record<
  Exclude<NameKind, "room" | "participant" | "proposal">,
  (known: KnownNames) => string[] | Promise<string[]>
> = {
  server: (known) => known.servers(),
  tool: (known) => known.tools("listed"),
  "changed-tool": (known) => known.tools("quarantined"),
  "disabled-tool": (known) => known.tools("disabled"),
  gate: (known) => known.gates(),
  grant: (known) => known.grants(),
  profile: (known) => known.profiles(),
};

/** Read from what was said: nobody in the room notices. */
async function pendingIn({ rooms, clock }: NameRoutesOptions, topic: string): Promise<string[]> {
  const query = new URLSearchParams({ limit: String(defaultLimits.historyPageMax) });
  const page: unknown = JSON.parse(await rooms.history(ownPrincipal("names", topic), topic, query));
  const envelopes = isObject(page) && Array.isArray(page.envelopes) ? page.envelopes : [];
  const tracker = new ProposalTracker();
  // The newest comes first there.
  for (const envelope of (envelopes as RoomEnvelope[]).reverse())
    tracker.observe(envelope, timestampMs(envelope.at ?? envelope.ts));
  tracker.expire(clock.now());
  return tracker.pending().map(({ id }) => id);
}
