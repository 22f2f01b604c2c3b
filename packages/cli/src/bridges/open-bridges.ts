// The configured bridges: each starts by itself, tries again where its platform cannot be reached, and ends with us.
// A bridge never holds a token: it is given ways into its rooms, made here.
import {
  type Bridge,
  type BridgeRooms,
  bridgeMigrations,
  createBridge,
  createSqliteStore,
  type Link,
  type Member,
  platformKinds,
} from "@mcpx/bridges";
import type { RunningGateway } from "@mcpx/gateway";
import { type Identity, type Logger, openDatabase, type Principal } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { joinLocally, ownPrincipal } from "../access/local-gateway.ts";
import { version } from "../framework/version.ts";
import type { BridgeSettings } from "../settings/bridge-settings.ts";

export interface BridgeParts {
  statePath: string;
  gateway: Pick<RunningGateway, "enter" | "history">;
  /** Ids of this process's own participants: nobody can be linked to one. */
  own: readonly string[];
  identity: Pick<Identity, "secret">;
  log: Logger;
  roomUrl(topic: string): string;
}

interface BridgeFacts extends ReturnType<Bridge["facts"]> {
  name: string;
  platform: string;
  links: { user: string; participant: string; level: string | undefined; since: string }[];
}

export interface OpenBridges {
  facts(): Promise<BridgeFacts[]>;
  /** Resolves when all of them have reached their platforms. */
  readonly ready: Promise<unknown>;
}

/** Beginnings of ids that only bridges give: to themselves, and to people under their ids on a platform. */
export const bridgePrefixes: readonly string[] = ["bridge:", ...platformKinds.map((kind) => `${kind}:`)];

/** What is opened is closed by `opened`. */
export function openBridges(
  settings: readonly BridgeSettings[],
  { statePath, gateway, own, identity, log, roomUrl }: BridgeParts,
  opened: AsyncDisposableStack,
): OpenBridges {
  const db = openDatabase(statePath, { component: "bridges", migrations: bridgeMigrations });
  opened.defer(() => db.close());
  const store = createSqliteStore(db);
  const secret = identity.secret("bridges");
  const bridges = settings.map((one) => {
    const { name, kind, channels, unlinked } = one;
    const rooms = roomsFor(name, gateway, own);
    const platform = one.open();
    return {
      kind,
      bridge: createBridge({ name, kind, platform, channels, unlinked, store, rooms, secret, log, roomUrl }),
    };
  });
  opened.defer(async () => {
    await Promise.all(bridges.map(({ bridge }) => bridge.close()));
  });
  return {
    facts: () =>
      Promise.all(
        bridges.map(async ({ kind, bridge }) => ({
          name: bridge.name,
          platform: kind,
          ...bridge.facts(),
          links: (await store.links(bridge.name)).map(linkFacts),
        })),
      ),
    ready: Promise.all(bridges.map(({ bridge }) => bridge.ready)),
  };
}

function linkFacts({ user, participant, level, at }: Link): BridgeFacts["links"][number] {
  return { user, participant, level, since: new Date(at).toISOString() };
}

function roomsFor(name: string, gateway: BridgeParts["gateway"], own: readonly string[]): BridgeRooms {
  return {
    join: (topic) => {
      const reader = { ...ownPrincipal(`bridge:${name}`, topic, "robot"), level: "restricted" } as const;
      return joinLocally(gateway, { ...reader, levelMax: "restricted" }, topic, {
        isSecond: false,
        history: 0,
        clientInfo: { name: "mcpx", version },
      });
    },
    enter: (member, topic) =>
      gateway.enter(principalOf(member, topic, own), new URLSearchParams({ topic, protocol: "mcpx/v0.1" })),
  };
}

/** A person, whose level the gateway finds as for anybody: an admin's decision, the link, the known identity, the mode. */
function principalOf(
  { participant, name, level, linkId }: Member,
  topic: string,
  own: readonly string[],
): Principal {
  const isGuest = linkId === undefined;
  const lower = participant.toLowerCase();
  const isPlatforms = bridgePrefixes.some((prefix) => lower.startsWith(prefix));
  if (own.includes(participant) || isPlatforms !== isGuest) {
    throw new McpxError("bad_request", `nobody can speak as ${participant}`);
  }
  const { level: _, ...base } = ownPrincipal(participant, topic, "human");
  return {
    ...base,
    name,
    ...(level !== undefined && { level }),
    levelMax: isGuest ? "restricted" : "full",
    jti: isGuest ? `guest:${participant}` : linkJti(linkId),
  };
}

/** What is revoked when a link ends: its connections end with it. */
export function linkJti(linkId: string): string {
  return `link:${linkId}`;
}
