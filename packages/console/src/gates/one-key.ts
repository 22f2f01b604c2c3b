// One key for calls that can be undone, where their person has chosen that: decided at once, sent a moment later, so that
// it can be taken back while nothing was sent.
import { capabilityOf, isIrreversible, isObject, readCapability } from "@mcpx/protocol";
import type { Item } from "../store/deck.ts";
import { app, attempt, goOn } from "../store/page.ts";
import { browserKey, decide, signersOf } from "./decide.ts";
import { hold } from "./hold.ts";

/** The tool says so, or the gateway believes it; a tool that says nothing is no such tool. */
export function isReversible(item: Item): boolean {
  if (item.kind === "gate") {
    return (
      !item.isReview &&
      item.gate.why !== "unannotated" &&
      !isIrreversible(readCapability(item.gate.capability))
    );
  }
  if (item.target === undefined) return false;
  const listed = app.rooms.get().get(item.topic)?.tools.get().get(item.target);
  const tool = listed?.state === "listed" ? listed.tools.find(({ name }) => name === item.tool) : undefined;
  return tool !== undefined && isObject(tool.annotations) && !isIrreversible(capabilityOf(tool, true));
}

/** False where a question has to be asked: nobody can sign here without one, or it cannot be undone. */
export function approveByOneKey(item: Item): boolean {
  const [signer] = signersOf(app.gates.approvers.get(), browserKey.get());
  if (!isReversible(item) || (item.kind === "gate" && signer === undefined)) return false;
  attempt(
    decide(item, "approve", { signer }).then((send) => {
      hold(item, "Approving", send);
      goOn([item.key]);
    }),
  );
  return true;
}
