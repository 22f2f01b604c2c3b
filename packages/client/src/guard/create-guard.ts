// A guard: lets calls through to what `room.serve` serves, or says why not. It gives capabilities, takes them back, and
// tells the room whom it lets at what. One guard stands in one room.
import {
  type AccessPolicy,
  accessMetaKey,
  type CapabilityGrant,
  capabilityMethods,
  defaultPolicy,
  type Ed25519Jwk,
  isObject,
  type JsonObject,
  readEd25519Jwk,
  readPolicy,
  strictPolicy,
  type ToolSet,
  VerifiedTokens,
} from "@mcpx/protocol";
import type { RoomCore } from "../core/room-core.ts";
import { asError, RoomError } from "../core/room-error.ts";
import type { ServeGuard } from "../serving/serve-guard.ts";
import type { LiveGrant } from "./access-store.ts";
import { createMemoryAccessStore } from "./access-store-memory.ts";
import { Admissions, type Decisions } from "./admissions.ts";
import { admit } from "./admit.ts";
import { announce } from "./announce.ts";
import { takeApproval } from "./ask-approval.ts";
import { answerRequest, issue } from "./grant.ts";
import { type GuardOptions, type GuardState, keyOf, nowOf, verdictFor } from "./guard-state.ts";
import { listen } from "./listen.ts";
import { revoke, revokeWhatRulesNoLongerGive } from "./revoke.ts";

export interface IssueWish {
  holder: string;
  tools: ToolSet;
  /** In seconds; as long as is said here. */
  duration: number;
  /** The holder's public key; the one the room shows unless given. */
  key?: Ed25519Jwk;
  maxUses?: number;
  /** A JSON Schema. */
  arguments?: JsonObject;
  delegations?: number;
}

export interface Guard extends ServeGuard {
  /**
   * Gives a capability unasked, such as a long-lived one for when the owner is away. [AC-9-2]
   * @example const { token } = await guard.issue({ holder: "ann", tools: ["heat"], duration: 86_400 });
   */
  issue(wish: IssueWish): Promise<CapabilityGrant & { id: string }>;
  /**
   * What is out and not over.
   * @example for (const { jti, holder, uses } of await guard.grants()) console.log(jti, holder, uses);
   */
  grants(): Promise<LiveGrant[]>;
  /**
   * Takes capabilities back, now, and tells the room. [AC-9-3]
   * @example await guard.revoke((await guard.grants()).map(({ jti }) => jti));
   */
  revoke(ids: readonly string[]): Promise<void>;
  /**
   * Another policy from now on; what rules gave and would no longer give is revoked.
   * @example await guard.setPolicy({ mode: "allowlist", rules: [{ agent: "ann", tools: ["heat"] }] });
   */
  setPolicy(policy: AccessPolicy): Promise<void>;
}

const pagesMax = 100;

/**
 * @example
 * const guard = createGuard({ key, policy: { mode: "allowlist", rules: [{ agent: "ann", tools: ["heat"] }] } });
 * await room.serve(server, { guard });
 */
export function createGuard(options: GuardOptions): Guard {
  const given = options.policy === undefined ? undefined : readPolicy(options.policy);
  const store = options.store ?? createMemoryAccessStore();
  let state: GuardState | undefined;
  let policy = given;

  function opened(): GuardState {
    if (state === undefined)
      throw new RoomError("bad_option", "the guard is in no room yet: give it to room.serve first");
    return state;
  }

  return {
    open(core) {
      if (state !== undefined)
        throw new RoomError("bad_option", "the guard is in a room already: make another one for this room");
      const current = createState(options, store, core, policy);
      state = current;
      const unlisten = listen(current, () => refresh(current, policy));
      const decisions = decisionsOf(current, {
        begin: () => refresh(current, policy, { isFirst: true }),
        close() {
          unlisten();
          current.ended.abort(new RoomError("closed", "the guard has left its room"));
          state = undefined;
        },
      });
      return new Admissions(core, decisions);
    },
    async issue({ holder, key, duration, ...wish }) {
      const current = opened();
      const holderKey = key === undefined ? keyOf(current, holder) : readEd25519Jwk(key);
      if (holderKey === undefined) throw new RoomError("bad_option", `no Ed25519 key of ${holder} is known`);
      const fromMs = nowOf(current);
      const untilMs = fromMs + duration * 1_000;
      return issue(current, { ...wish, holder, key: holderKey, fromMs, untilMs, isByPolicy: false });
    },
    grants: () => store.grants(state === undefined ? (options.now?.() ?? Date.now()) : nowOf(state)),
    revoke: (ids) => revoke(opened(), ids),
    async setPolicy(next) {
      const current = opened();
      policy = readPolicy(next);
      await refresh(current, policy, { isFirst: true });
      await revokeWhatRulesNoLongerGive(current);
    },
  };
}

function createState(
  options: GuardOptions,
  store: GuardState["store"],
  core: RoomCore,
  policy: AccessPolicy | undefined,
): GuardState {
  return {
    options,
    store,
    core,
    verified: new VerifiedTokens(),
    // Until it is known what only reads, nothing does.
    policy: policy ?? (options.strict ? strictPolicy : defaultPolicy([])),
    tools: new Set(),
    destructive: new Set(),
    keys: new Map(),
    delegators: new Set(),
    channels: new Map(),
    requests: new Map(),
    questions: new Map(),
    waiting: 0,
    ended: new AbortController(),
  };
}

function decisionsOf(state: GuardState, life: Pick<Decisions, "begin" | "close">): Decisions {
  const { request, approve } = capabilityMethods;
  return {
    ...life,
    answers: (method) => method === request || method === approve,
    answer: async (asked): Promise<JsonObject> =>
      asked.method === request ? answerRequest(state, asked) : takeApproval(state, asked),
    admit: (asked) => admit(state, asked),
    shown: (result, peer) => shown(state, result, peer),
  };
}

/** Looks at the tools again, shows key and policy where they are new. [AC-1-1] */
async function refresh(
  state: GuardState,
  given: AccessPolicy | undefined,
  { isFirst = false } = {},
): Promise<void> {
  const { core, options } = state;
  try {
    const before = JSON.stringify(state.policy);
    const tools = await ownTools(core);
    state.tools = new Set(named(tools, () => true));
    state.destructive = new Set(named(tools, ({ destructiveHint }) => destructiveHint === true));
    const unset = () => {
      return options.strict
        ? strictPolicy
        : defaultPolicy(named(tools, (hints) => hints.readOnlyHint === true));
    };
    state.policy = given ?? unset();
    if (!isFirst && JSON.stringify(state.policy) === before) return;
    await announce(state);
  } catch (error) {
    if (isFirst) throw error;
    core.events.emit("error", asError(error));
  }
}

async function ownTools(core: RoomCore): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < pagesMax; page += 1) {
    const listed = await core.callSelf?.("tools/list", cursor === undefined ? {} : { cursor }, {});
    if (Array.isArray(listed?.tools)) all.push(...listed.tools.filter(isObject));
    cursor = listed?.nextCursor;
    if (typeof cursor !== "string") break;
  }
  return all;
}

function named(tools: readonly JsonObject[], fits: (hints: JsonObject) => boolean): string[] {
  return tools
    .filter(({ annotations }) => fits(isObject(annotations) ? annotations : {}))
    .map(({ name }) => name)
    .filter((name) => typeof name === "string");
}

/** [AC-9-1] */
function shown(state: GuardState, result: JsonObject, peer: string): JsonObject {
  if (!Array.isArray(result.tools)) return result;
  const tools = result.tools.map((tool: unknown) => {
    if (!isObject(tool) || typeof tool.name !== "string") return tool;
    const { access, needsApproval } = verdictFor(state, peer, tool.name);
    const needs = { access, approval: needsApproval, request: capabilityMethods.request };
    return { ...tool, _meta: { ...(isObject(tool._meta) ? tool._meta : {}), [accessMetaKey]: needs } };
  });
  return { ...result, tools };
}
