// `mcpax/update`: a subtree has changed. A circle that would close is refused, whichever tree closes it. [AX-5.3-2]
// [AX-5.3-3]
import {
  type JsonObject,
  McpxError,
  readSubserverIds,
  readSubtreeIds,
  subserverIdsKey,
} from "@mcpx/protocol";
import {
  announceLess,
  checkCycle,
  checkSubtreeSize,
  type RegistrarState,
  type Subserver,
} from "./registrar.ts";
import { sortIds } from "./subserver-ids.ts";

export async function update(
  state: RegistrarState,
  subserver: Subserver,
  params: JsonObject,
): Promise<JsonObject> {
  const ids = readSubtreeIds(params["x-mcpax-subtree-ids"]);
  if (ids === undefined) throw new McpxError("bad_params", "params.x-mcpax-subtree-ids is missing");
  if (subserver.registration.subtreeIds === undefined) {
    throw new McpxError("bad_params", "it has not registered as an aggregator");
  }
  checkCycle(state, ids);
  const before = subserver.subtreeIds;
  checkSubtreeSize(state, subserver.registration.segment, ids);
  const { taken, refused } = sortIds(
    state,
    subserver.registration.segment,
    readSubserverIds(params[subserverIdsKey]),
  );
  const beforeIds = subserver.subserverIds;
  subserver.subtreeIds = ids;
  subserver.subserverIds = new Set(taken);
  subserver.isUpdating = true;
  try {
    const above = await state.announceSubtree();
    const gone = [...refused, ...taken.filter((id) => above.has(id))];
    subserver.subserverIds = new Set(taken.filter((id) => !above.has(id)));
    return { status: "updated", ...(gone.length > 0 && { refused_subserver_ids: gone }) };
  } catch (error) {
    subserver.subtreeIds = before;
    subserver.subserverIds = beforeIds;
    announceLess(state);
    throw error;
  } finally {
    subserver.isUpdating = false;
  }
}
