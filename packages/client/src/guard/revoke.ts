// Takes capabilities back: in the store first, then the room is told. [AC-9-3] [AC-9-7]
import { revocationNotice, revokedIdsMax } from "@mcpx/protocol";
import { publish } from "../core/room-core.ts";
import { type GuardState, nowOf, storeId, tell, verdictFor } from "./guard-state.ts";

/** What is not known here is revoked as long as anything granted here lives. */
export async function revoke(state: GuardState, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { core, store } = state;
  const grants = await store.grants(nowOf(state));
  const ends = new Map(grants.map(({ id, untilMs }) => [id, untilMs]));
  const latest = Math.max(nowOf(state), ...ends.values());
  await store.revoke(
    ids.map((jti) => {
      const id = storeId(core.id, jti);
      return { id, untilMs: ends.get(id) ?? latest };
    }),
  );
  for (const jti of ids) {
    const holder = grants.find((grant) => grant.jti === jti)?.holder ?? "";
    tell(state, { type: "revoked", from: holder, jti });
  }
  for (let at = 0; at < ids.length; at += revokedIdsMax) {
    await publish(core, {
      kind: "system",
      payload: revocationNotice(ids.slice(at, at + revokedIdsMax), latest),
    });
  }
}

/** After a change of policy. What a human or the owner gave stays. */
export async function revokeWhatRulesNoLongerGive(state: GuardState): Promise<void> {
  const grants = await state.store.grants(nowOf(state));
  const isStillGiven = (holder: string, tool: string) => {
    const { access } = verdictFor(state, holder, tool);
    return access === "open" || access === "granted";
  };
  const gone = grants.filter(
    ({ topic, isByPolicy, isRevoked, holder, tools }) =>
      topic === state.core.topic &&
      isByPolicy &&
      !isRevoked &&
      !(tools === "*" ? ["*"] : tools).every((tool) => isStillGiven(holder, tool)),
  );
  await revoke(
    state,
    gone.map(({ jti }) => jti),
  );
}
