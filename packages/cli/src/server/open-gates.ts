// The gates of a tree, over its database and the approvers of its data directory.
import type { DatabaseSync } from "node:sqlite";
import {
  type ApproverStore,
  aggregatorId,
  createFileApproverStore,
  createGatekeeper,
  createSqliteGateStore,
  type Gatekeeper,
  keepGates,
  readPanic,
} from "@mcpx/aggregator";
import type { Audit, Clock, Logger } from "@mcpx/host";
import { approversDir, watchApprovers } from "../access/approvers.ts";
import type { GateSettings } from "../settings/gate-settings.ts";

export interface GateParts {
  dataDir: string;
  db: DatabaseSync;
  audit: Audit;
  clock: Clock;
  log: Logger;
  /** Where people reach the gateway; asked when a call waits. */
  url(): string;
  /** What has to be done before anybody can decide there. */
  obstacle?: string | undefined;
  /** Stands before the names of tools. */
  rootSegment: string | undefined;
  /** Whether a token was taken back. */
  isRevoked(jti: string): boolean;
  /** Nobody else works with this data directory. */
  isAlone: boolean;
}

export interface OpenGates {
  gates: Gatekeeper;
  approvers: ApproverStore;
}

/** What is opened is closed by `opened`. */
export async function openGates(
  settings: GateSettings,
  parts: GateParts,
  opened: AsyncDisposableStack,
): Promise<OpenGates> {
  const { dataDir, db, audit, clock, log, obstacle, rootSegment, isAlone, isRevoked } = parts;
  const { anchors, url, room: _, ...rest } = settings;
  const approvers = await createFileApproverStore(approversDir(dataDir));
  const gates = createGatekeeper({
    ...rest,
    aggregatorId: aggregatorId(db),
    store: createSqliteGateStore({ db, clock, rootSegment }),
    anchors: watchApprovers(dataDir, anchors, log, approvers.keepCounter),
    isPanic: readPanic(db),
    isRevoked,
    approveUrl: (id) => `${url ?? byName(parts.url())}/approve/${id}`,
    obstacle,
  });
  const stop = await keepGates(gates, { audit, log, mayRecover: isAlone });
  opened.defer(stop);
  return { gates, approvers };
}

/** Passkeys are made for names: on this machine a number has one. */
function byName(url: string): string {
  return url.replace(/^http:\/\/(127\.0\.0\.1|\[::1\]):/, "http://localhost:");
}
