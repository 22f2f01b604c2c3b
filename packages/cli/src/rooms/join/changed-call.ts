// What was called instead of what was proposed, value by value: its proposer asked for something else. Pure.
import type { Proposal } from "@mcpx/client";
import { argumentDiff, maskChange } from "@mcpx/protocol";
import type { Output } from "../../framework/output.ts";
import { cut, visible } from "../../framework/visible.ts";

const lineCharsMax = 300;

/** How a call differs from its proposal; no lines where it does not. `secrets`: places in the arguments, as the tools' schemas say. */
export function changedCallLines(
  { method, params, targets, fulfilment, lateCall }: Proposal,
  { paint }: Pick<Output, "paint">,
  secrets: readonly string[] = [],
): string[] {
  const { called, target = "" } = fulfilment ?? lateCall ?? {};
  if (called === undefined) return [];
  const line = (sign: "+" | "-", text: string) =>
    paint(sign === "+" ? "green" : "red", cut(visible(`   ${sign} ${text}`), lineCharsMax));
  const isElsewhere = targets.length > 0 && !targets.includes(target);
  // What it carries beside its parameters was not proposed, and is not compared either.
  const bare = (of: object) => ({ ...of, _meta: undefined });
  const places = secrets.map((place) => `/arguments${place}`);
  const { changes, more } = argumentDiff(bare(params), bare(called.params));
  return [
    ...(isElsewhere ? [line("-", `of ${targets.join(", ")}`), line("+", `of ${target}`)] : []),
    ...(called.method === method ? [] : [line("-", method), line("+", called.method)]),
    ...changes
      .map((change) => maskChange(change, places))
      .flatMap(({ path, old, new: now }) => [
        ...(old === undefined ? [] : [line("-", `${path}: ${old}`)]),
        ...(now === undefined ? [] : [line("+", `${path}: ${now}`)]),
      ]),
    ...(more === 0 ? [] : [`   … and ${more} more changes`]),
  ];
}
