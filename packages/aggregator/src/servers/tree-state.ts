// Everything the tree keeps while it runs.
import type { Audit, Clock, Logger, Turns } from "@mcpx/host";
import type { BudgetAccount } from "../budgets/budget.ts";
import type { Directory } from "../catalogue/directory.ts";
import type { PinStore } from "../catalogue/pin-store.ts";
import type { CallFigures } from "../dispatch/call-figures.ts";
import type { CallMeter } from "../dispatch/call-meter.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import type { LogLevel } from "../mcp/era.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { Profile } from "../mcp/profile.ts";
import type { GatheredNews } from "../notifications/announce.ts";
import type { Flows } from "../notifications/notification-flows.ts";
import type { Subscriber } from "../notifications/subscriptions.ts";
import type { DefinitionScan } from "../scanners/scan-definitions.ts";
import type { Scanner } from "../scanners/scanner.ts";
import type { CallTraces } from "../tracing/call-traces.ts";
import type { Configured } from "./change-servers.ts";
import type { ListBook } from "./list-capacity.ts";
import type { LocalRooms, Server } from "./server.ts";
import type { ServerEvents } from "./server-events.ts";
import { personalOf } from "./server-origin.ts";
import type { SignInState } from "./users/sign-in-state.ts";

export interface ParentFacts {
  url: string;
  /** What we are called there. */
  segment: string;
  state: string;
}

export interface TreeState {
  readonly name: string;
  readonly version: string;
  /** Our own segment, below a parent or as configured. */
  readonly segment: string | undefined;
  /** What stands before the names that clients and people see; `undefined` below a parent, which does that itself. */
  readonly rootSegment: string | undefined;
  /** Wall clock ms; in tokens issued before, the root segment is read as the segment of a server. */
  readonly rootSince: number;
  readonly bySegment: Map<string, Server>;
  /** Notified of changes of servers. */
  readonly events: ServerEvents;
  /** The trees above, and whether they have us. */
  parents: () => readonly ParentFacts[];
  /** Who pays for the calls of the caller with this key, beside the server that is called; most callers need not. */
  payerOf: (callerKey: string) => BudgetAccount | undefined;
  root: Server | undefined;
  /** Some of its servers are another one for each user. */
  isPersonal: boolean;
  /** The servers that can be changed while we run, by name. */
  readonly configured: Map<string, Configured>;
  /** Out of the tree already, with calls that have not ended. */
  readonly leaving: Set<Server>;
  readonly profiles: Map<string, Profile>;
  readonly subscribers: Set<Subscriber>;
  /** What clients were shown last, by kind of list and of client. */
  readonly directories: Map<string, Directory>;
  /** What is about to be told of lists that have changed. */
  readonly gatheredNews: GatheredNews;
  /** What servers say unasked, on its way to clients. */
  readonly flows: Flows;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: Audit | undefined;
  /** How many calls there were. */
  readonly calls: CallFigures;
  /** The same for machines that watch over us, where any do. */
  readonly meter: CallMeter | undefined;
  /** Where their traces go; nowhere unless wanted. */
  readonly traces: CallTraces | undefined;
  /** The scanners of tools and of their results. */
  readonly scanners: readonly Scanner[];
  /** Asks the scanners about the tools that a server lists. */
  readonly scanDefinitions: DefinitionScan;
  /** Notifications that clients were too slow for. */
  missedByClients: number;
  /** How much each session wants its servers to log, where it has said so. */
  readonly logLevels: Map<Caller, LogLevel>;
  /** What tools were when they were first seen; without it they may change. */
  readonly pins: PinStore | undefined;
  /** Characters that pins may take. */
  readonly pinRoom: { readonly perServerMax: number; readonly perPrincipalMax: number; readonly max: number };
  /** How much memory lists take, and may. */
  readonly listCapacity: ListBook;
  /** How long the tools of a lost server stay listed; 0 is not at all. */
  readonly graceMs: number;
  /** Whether the tree has no tools of its own and only passes on one room or gateway. */
  readonly isBridge: boolean;
  readonly turns: Turns | undefined;
  readonly rooms: LocalRooms | undefined;
  /** Where calls wait for a human; without it none does. */
  readonly gates: Gatekeeper | undefined;
  /** Who is signed in to servers that everybody uses in their own name; without it nobody can. */
  readonly signIns: SignInState | undefined;
  /** Key of the seals on task ids. */
  readonly secret: Uint8Array;
  isClosed: boolean;
  /** Gives up what is being opened when the tree is closed. */
  readonly closing: AbortController;
}

export function serversOf(state: TreeState): Server[] {
  return state.root === undefined ? [...state.bySegment.values()] : [state.root, ...state.bySegment.values()];
}

/** All servers that are really used: the shared ones, and each user's own. */
export function everyServer(state: TreeState): Server[] {
  return serversOf(state).flatMap(partsOf);
}

/** The server itself, or the servers that users have of it. */
export function partsOf(server: Server): Server[] {
  return personalOf(server) === undefined ? [server] : [...server.byUser.values()].map((own) => own.server);
}
