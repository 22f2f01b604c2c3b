// A target that serves, but not this, says so at once rather than let the proposer wait. Nobody has to. [PL-11-2]
import { isObject, type JsonObject } from "@mcpx/protocol";
import { publish, type RoomCore } from "../core/room-core.ts";
import type { Proposal } from "./proposal.ts";

const pagesMax = 100;

export async function rejectIfUnable(core: RoomCore, proposal: Proposal): Promise<void> {
  const { id, targets, proposer } = proposal;
  // Who proposes to itself knows what it can do.
  if (core.served === undefined || !targets.includes(core.id) || proposer === core.id) return;
  if (await isAble(core, proposal)) return;
  const payload = { reason: "incapable" };
  await publish(core, { kind: "mcpx.reject.proposal", to: [proposer], correlation_id: id, payload });
}

async function isAble(core: RoomCore, { method, params }: Proposal): Promise<boolean> {
  if (method !== "tools/call") return core.served?.serves(method) ?? false;
  let cursor: unknown;
  for (let page = 0; page < pagesMax; page += 1) {
    const listed = await core.callSelf?.("tools/list", cursor === undefined ? {} : { cursor }, {});
    const tools: unknown[] = Array.isArray(listed?.tools) ? listed.tools : [];
    if (tools.some((tool) => isObject(tool) && tool.name === (params as JsonObject).name)) return true;
    cursor = listed?.nextCursor;
    if (typeof cursor !== "string") return false;
  }
  return true;
}
