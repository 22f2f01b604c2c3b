// What is to become of a call: what the operator's rules say, else what its tool says of its danger. [AX-11.3-1]
import { believedKey, capabilityKey, cautious, isObject, type JsonObject } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import type { TreeState } from "../servers/tree-state.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { classify, type Verdict } from "./rules.ts";

export function judge(
  { rootSegment: root }: Pick<TreeState, "rootSegment">,
  gates: Gatekeeper,
  tool: Entry,
  given: unknown,
): Verdict {
  const { rules, isPanic, unannotated, quorum } = gates;
  const { server, canonical, capability = cautious } = tool;
  return classify({
    tool: canonical,
    root,
    capability,
    isAnnotated: isAnnotated(tool),
    arguments: given,
    rules,
    unannotated: server.unannotated ?? unannotated,
    quorum,
    isPanic,
  });
}

/** The word of a server that is not trusted counts only where it warns. [AX-9.1-2] */
function isAnnotated({ server, name, item }: Entry): boolean {
  if (server.overrides?.tools.get(name)?.capability !== undefined) return true;
  const meta = isObject(item._meta) ? item._meta : {};
  const said = [meta[capabilityKey], meta[believedKey]].filter((one) => one !== undefined);
  const hints = item.annotations;
  if (server.isTrusted) return said.length > 0 || isObject(hints);
  const annotations = said.filter(isObject);
  if (annotations.length > 0) return annotations.some(warns);
  return isObject(hints) && isDestructive(hints);
}

function warns({ mutable, reversible }: JsonObject): boolean {
  return mutable === true && reversible === false;
}

function isDestructive({ readOnlyHint, destructiveHint }: JsonObject): boolean {
  return readOnlyHint !== true && destructiveHint === true;
}
