// The configured bridges: each starts by itself, tries again where its platform cannot be reached, and ends with us.
// A bridge never holds a token: it is given ways into its rooms, made here.
import { pressPlace } from "@mcpx/aggregator";
import {
  type Bridge,
  type BridgeRooms,
  type BridgeStore,
  createBridge,
  type Link,
  type Member,
  platformKinds,
} from "@mcpx/bridges";
import type { RunningGateway } from "@mcpx/gateway";
import type { Clock, Identity, Logger, Principal } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { joinAsScout, joinLocally, ownPrincipal } from "../access/local-gateway.ts";
import { version } from "../framework/version.ts";
import type { BridgeSettings } from "../settings/bridge-settings.ts";
import type { Stores } from "../stores/stores.ts";
import { createPresses, type PressParts } from "./presses.ts";

export interface BridgeParts {
  stores: Pick<Stores, "bridges">;
  gateway: Pick<RunningGateway, "enter" | "history">;
  /** Ids of this process's own participants: nobody can be linked to one. */
  own: readonly string[];
  identity: Pick<Identity, "secret">;
  clock: Pick<Clock, "now">;
  /** Who approves, and whose presses count. */
  chain: PressParts["chain"];
  log: Logger;
  roomUrl(topic: string): string;
}

interface BridgeFacts extends ReturnType<Bridge["facts"]> {
  name: string;
  platform: string;
  unlinked: "read" | "guest";
  /** Whether the platform only gets notifications with a link. */
  isNotice: boolean;
  links: LinkFacts[];
}

interface LinkFacts {
  user: string;
  participant: string;
  level: string | undefined;
  since: string;
  /** Presses of theirs count as approvals. */
  presses: boolean;
}

export interface OpenBridges {
  readonly store: BridgeStore;
  /** Finds an open bridge by its name. */
  find(name: string): Pick<BridgeSettings, "name" | "kind" | "reach"> | undefined;
  facts(): Promise<BridgeFacts[]>;
  /** Resolves when all of them have reached their platforms. */
  readonly ready: Promise<unknown>;
}

/** Beginnings of ids that only bridges give: to themselves, and to people under their ids on a platform. */
export const bridgePrefixes: readonly string[] = ["bridge:", ...platformKinds.map((kind) => `${kind}:`)];

/** What is opened is closed by `opened`. */
export function openBridges(
  settings: readonly BridgeSettings[],
  { stores, gateway, own, identity, clock, chain, log, roomUrl }: BridgeParts,
  opened: AsyncDisposableStack,
): OpenBridges {
  const store = stores.bridges;
  const secret = identity.secret("bridges");
  const bridges = settings.map((one) => {
    const { name, kind, channels, unlinked } = one;
    const rooms = roomsFor(name, gateway, own);
    const platform = one.open();
    const presses = createPresses({ chain, identity }, one);
    const parts = { platform, store, rooms, presses, secret, log, roomUrl, now: clock.now };
    const isNotice = platform.can.carries === "cards";
    return { one, isNotice, bridge: createBridge({ name, kind, channels, unlinked, ...parts }) };
  });
  opened.defer(async () => {
    await Promise.all(bridges.map(({ bridge }) => bridge.close()));
  });
  const linkFacts = ({ bridge, user, participant, level, at }: Link): LinkFacts => ({
    ...{ user, participant, level, since: new Date(at).toISOString() },
    presses: chain.now().state.has(pressPlace(bridge, user)),
  });
  return {
    store,
    find: (name) => settings.find((one) => one.name === name),
    facts: () =>
      Promise.all(
        bridges.map(async ({ one, isNotice, bridge }) => ({
          ...{ name: one.name, platform: one.kind, unlinked: one.unlinked, isNotice },
          ...bridge.facts(),
          links: (await store.links(one.name)).map(linkFacts),
        })),
      ),
    ready: Promise.all(bridges.map(({ bridge }) => bridge.ready)),
  };
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
    scout: (topic) => joinAsScout(gateway, topic),
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
