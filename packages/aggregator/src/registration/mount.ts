// A registered server takes its place in the tree, and is asked what it has.
import { leaseMs, McpxError, type Registration } from "@mcpx/protocol";
import { listOf } from "../catalogue/catalogue.ts";
import { openLink } from "../links/open-link.ts";
import type { WireTaker } from "../links/wire.ts";
import { type ListKind, listKinds } from "../mcp/list-kinds.ts";
import { innerPrincipal, plainCaller } from "../mcp/plain-caller.ts";
import { announceChange } from "../notifications/announce.ts";
import { createServer, type Server } from "../servers/server.ts";
import type { Channel } from "./channel.ts";
import { openChannelWire, type WireEnd } from "./channel-wire.ts";
import { describeSubserver, shownSession } from "./describe-subserver.ts";
import { missedTwo, suspend } from "./lose.ts";
import { budgetHolder, type RegistrarState, type Standing, type Subserver } from "./registrar.ts";

export interface Mounting {
  registration: Registration;
  standing: Standing;
  sessionId: string;
  epoch: number;
  channel: Channel;
  wireEnd: WireEnd;
  /** Of those below it, the ones that were not refused. */
  subserverIds: readonly string[];
}

const listMs = 10_000;

export function mount(state: RegistrarState, mounting: Mounting): Subserver {
  const { registration, channel } = mounting;
  const { segment } = registration;
  const now = state.clock.monotonic();
  const registeredAt = state.clock.now();
  const server = registeredServer(state, mounting, registeredAt, () => subserver);
  const subserver: Subserver = {
    ...mounting,
    server,
    registeredAt,
    heardAt: now,
    subtreeIds: registration.subtreeIds ?? [],
    subserverIds: new Set(mounting.subserverIds),
    isUpdating: false,
    isAlive: true,
    isOver: false,
  };
  state.bySegment.set(segment, subserver);
  state.tree.bySegment.set(segment, server);
  state.log.info({ segment, subserver: registration.subserverId }, "subserver registered");
  for (const kind of listKinds) announceChange(state.tree, kind);
  void channel.ended.then((why) => state.lose(subserver, why));
  return subserver;
}

/** Lists the new server in advance, for the next client that lists. To be called once the answer is sent. */
export async function askForLists({ tree, log }: RegistrarState, { server }: Subserver): Promise<void> {
  const ask = async (kind: ListKind) => {
    const listed = await listOf(tree, server, kind, nobody);
    if (listed !== undefined && listed.entries.length > 0) announceChange(tree, kind);
    if (listed === undefined) log.info({ server: server.name, kind }, "could not list a subserver yet");
  };
  await Promise.all(listKinds.map(ask));
}

function registeredServer(
  state: RegistrarState,
  { registration, standing, sessionId, channel, wireEnd }: Mounting,
  registeredAt: number,
  own: () => Subserver,
): Server {
  const { segment, subserverId, subtreeIds, capabilities } = registration;
  const { equipment = null } = standing;
  const rule = state.ruleFor(segment);
  const isTree = subtreeIds !== undefined;
  const isTrusted = standing.isProven || rule.isTrusted === true;
  const refusal = () => refusalOf(state, own());
  return createServer({
    name: segment,
    segment,
    identity: () => ({
      kind: "registered",
      facts: { subserver_id: subserverId, is_proven: standing.isProven, by: standing.identity, equipment },
    }),
    origin: {
      kind: "registered",
      subserverId,
      session: { id: shownSession({ sessionId }), registeredAt },
      payer: standing.registrant,
      isGuest: standing.isGuest,
      isTree,
      scope: standing.scope,
      declared: capabilities,
      refusal,
      describe: () => describeSubserver(state, own()),
    },
    isTrusted,
    // A tree whose word counts pins its own servers' tools.
    isUnpinned: isTree && isTrusted,
    listMs,
    notifications: rule.notifications,
    budget: rule.budget && state.budgets.accountFor(budgetHolder(registration, standing), rule.budget),
    open: (opening, taker) => {
      const refused = refusal();
      if (refused !== undefined) throw refused;
      const connect = (end: WireTaker) => openChannelWire(channel, wireEnd, refusal, end);
      return openLink({ name: segment, transport: { type: "channel", connect }, ...opening }, taker);
    },
  });
}

/** Nothing is dispatched once the lease is over: somebody else may own it by now. [AX-13.3-3] */
function refusalOf(state: RegistrarState, subserver: Subserver): McpxError | undefined {
  const { clock } = state;
  const { registration, heardAt, isAlive, server } = subserver;
  const { heartbeatMs, segment } = registration;
  const now = clock.monotonic();
  const isLeased = heartbeatMs === 0 || now - heardAt < leaseMs(heartbeatMs);
  if (isAlive && isLeased) return undefined;
  // The first caller finds out: what fails from now on fails for one that is lost, and its lists stay.
  suspend(state, subserver, missedTwo);
  const since = new Date(server.degraded?.since ?? clock.now() - (now - heardAt)).toISOString();
  const retryAfterMs = heartbeatMs === 0 ? 5_000 : heartbeatMs;
  return new McpxError("subserver_unreachable", `${segment} does not answer`, {
    retryAfterMs,
    data: { since },
  });
}

/** The tree itself, where it lists for nobody in particular. */
const nobody = plainCaller(innerPrincipal("", []), "");
