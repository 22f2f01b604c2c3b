// `mcpax/deregister`: it leaves by its own will, at once. [AX-6.3-4]
import type { JsonObject } from "@mcpx/protocol";
import { keepMsOf, type RegistrarState, type Subserver } from "./registrar.ts";
import { remove } from "./remove.ts";

export async function deregister(state: RegistrarState, subserver: Subserver): Promise<JsonObject> {
  const { registration, standing, sessionId } = subserver;
  const { segment, subserverId } = registration;
  remove(state, subserver, "it has deregistered");
  await state.store.letGo(subserverId, sessionId);
  if (standing.isProven) await state.store.touch(segment, keepMsOf(state, standing));
  else await state.store.release(segment, subserverId);
  return { status: "deregistered" };
}
