// A call at its gate: it goes on, it is denied, or it waits for a human and is answered with what became of it.
// [AX-11.3-1]
import { hash } from "node:crypto";
import { thumbprint } from "@mcpx/host";
import { canonicalJson, cautious, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Entry } from "../catalogue.ts";
import type { Caller, Exchange } from "../exchange.ts";
import { withFixed } from "../overrides.ts";
import { principalName } from "../plain-caller.ts";
import { routeOf } from "../route-of.ts";
import type { TreeState } from "../tree-state.ts";
import type { Gate } from "./gate-store.ts";
import { confirmationKey, type Gatekeeper } from "./gatekeeper.ts";
import { useGrant } from "./grants.ts";
import { judge } from "./judge.ts";
import type { Verdict } from "./rules.ts";
import { waitAt } from "./wait-at.ts";

/** `undefined`: the call may go on as it is. Else what the caller is answered with. */
export async function passGate(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  tool: Entry,
): Promise<JsonObject | undefined> {
  const { caller, params } = exchange;
  // As they will be sent, with what the operator has fixed.
  const given = (tool.fixed === undefined ? params : withFixed(params, tool.fixed)).arguments ?? {};
  const verdict = judge(gates, tool, given);
  if (verdict.action === "allow") return undefined;
  if (verdict.action === "deny") throw new McpxError("gate_denied", `${tool.canonical}: ${verdict.why}`);
  const text = canonicalJson(given);
  const digest = `sha256:${hash("sha256", text, "base64url")}`;
  if (isGranted(state, gates, caller, tool, verdict, digest)) return undefined;
  const meta = isObject(params._meta) ? params._meta : undefined;
  const { segments: route } = routeOf(state, caller, meta, tool.canonical);
  const gate = await openGate(gates, caller, tool, verdict, { given, digest, route });
  return fitted(tool, await waitAt(state, gates, exchange, gate));
}

/** What we say instead of a tool is not of the form the tool promises. */
function fitted({ item }: Entry, answer: JsonObject): JsonObject {
  const { structuredContent, ...rest } = answer;
  if (answer.isError !== true || item.outputSchema === undefined || !isOurs(structuredContent)) return answer;
  return {
    ...rest,
    _meta: { ...(isObject(rest._meta) && rest._meta), [confirmationKey]: structuredContent },
  };
}

function isOurs(content: unknown): boolean {
  return (
    isObject(content) && typeof content.confirmation_id === "string" && typeof content.status === "string"
  );
}

function isGranted(
  { clock, audit }: TreeState,
  { grants }: Gatekeeper,
  caller: Caller,
  { canonical }: Entry,
  { action }: Verdict,
  digest: string,
): boolean {
  const grant = useGrant(grants, {
    action,
    principal: principalName(caller.principal),
    session: caller.key,
    tool: canonical,
    digest,
    now: clock.monotonic(),
  });
  if (grant === undefined) return false;
  audit?.record({
    action: "gate.granted",
    actor: caller.principal.id,
    subject: canonical,
    detail: { grant: grant.id, digest },
  });
  return true;
}

async function openGate(
  { store, ttlMs, watchers }: Gatekeeper,
  caller: Caller,
  { canonical, capability = cautious }: Entry,
  { why, approvers }: Verdict,
  { given, digest, route }: { given: unknown; digest: string; route: readonly string[] },
): Promise<Gate> {
  const { key } = caller.principal;
  const { gate, isNew } = await store.open(
    {
      principal: principalName(caller.principal),
      session: caller.key,
      keys: key === undefined ? [] : [thumbprint(key)],
      tool: canonical,
      argumentsText: JSON.stringify(given),
      digest,
      route,
      capability,
      why,
      approvers,
    },
    ttlMs,
  );
  if (isNew) for (const { opened } of watchers) opened?.(gate);
  return gate;
}
