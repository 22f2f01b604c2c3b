// Presses of a bridge that runs, as proofs: only of those whom the chain of approvers has at this moment. [B-BRIDGE-2]
import { isSame, type KeptChain, pressPlace } from "@mcpx/aggregator";
import type { Presses } from "@mcpx/bridges";
import { type Identity, statementKey, thumbprint } from "@mcpx/host";
import { canonicalJson, isIrreversible, readCapability, signText, statementOf } from "@mcpx/protocol";
import { keyOfPress, pressesOf, signedPress } from "./press-authority.ts";

export interface PressParts {
  chain: Pick<KeptChain, "now" | "refresh">;
  identity: Pick<Identity, "secret">;
}

export function createPresses(
  { chain, identity }: PressParts,
  bridge: { name: string; kind: string; reach: string },
): Presses {
  return {
    mayDecide: ({ annotation }) =>
      !isIrreversible(readCapability(annotation)) && pressesOf(chain.now().state, bridge.name).length > 0,
    async prove({ terms, user, participant, decision, reason }) {
      await chain.refresh();
      const place = { bridge: bridge.name, user, participant };
      const wanted = signedPress(identity, bridge, place);
      if (!isSame(chain.now().state.get(pressPlace(bridge.name, user)), wanted)) return undefined;
      const key = statementKey(keyOfPress(identity, place), thumbprint(wanted.jwk as never));
      return signText(canonicalJson(statementOf(terms, decision, reason)), "mcpx-press+jwt", key);
    },
  };
}
