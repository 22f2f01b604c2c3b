// Whether rules let more pass than other rules. "No" is certain, "yes" may be too careful: globs and conditions are
// compared as texts. Pure; a property test holds it against `classify`. [B-KEY-2]
import { canonicalJson, isObject } from "@mcpx/protocol";
import type { Rule, RuleAction } from "../rules.ts";

export interface Policy {
  readonly rules: readonly Rule[];
  readonly unannotated: "ask" | "allow";
  readonly quorum: number;
  /** The root's segment, which rules may write before names. */
  readonly root?: string | undefined;
}

/** What is no policy at all is weaker. */
export function isWeakerPolicy(before: unknown, after: unknown): boolean {
  if (!isPolicy(before) || !isPolicy(after)) return true;
  if (before.unannotated === "ask" && after.unannotated === "allow") return true;
  if (after.quorum < before.quorum) return true;
  if (before.root !== after.root && before.rules.length + after.rules.length > 0) return true;
  return isWeakerList(before, after);
}

function isPolicy(value: unknown): value is Policy {
  return isObject(value) && Array.isArray(value.rules) && typeof value.quorum === "number";
}

interface Strength {
  readonly action: RuleAction;
  readonly approvers: number;
  readonly isHeld: boolean;
}

const order: readonly RuleAction[] = ["allow", "ask", "always_ask", "deny"];

/**
 * Rules of both lists are paired, in their order. It is not weaker where what was dropped only allowed, what was added is
 * at least as strict as everything that could have decided instead, and no pair became milder.
 */
function isWeakerList(before: Policy, after: Policy): boolean {
  const pairs = pairsOf(before, after);
  const isDropped = (index: number) => !pairs.some(([old]) => old === index);
  const dropped = before.rules.filter((_, index) => isDropped(index));
  if (dropped.some((rule) => !allowsAll(strengthOf(rule, before)))) return true;
  const byDefault: Strength = { action: "ask", approvers: before.quorum, isHeld: false };
  return after.rules.some((rule, index) => {
    if (pairs.some(([, fresh]) => fresh === index)) return false;
    const later = pairs.filter(([, fresh]) => fresh > index).map(([old]) => before.rules[old]);
    const others = later.flatMap((one) => (one === undefined ? [] : [strengthOf(one, before)]));
    return [byDefault, ...others].some((one) => !isAsStrict(strengthOf(rule, after), one));
  });
}

/** The longest way through both lists, as pairs of indices. */
function pairsOf(before: Policy, after: Policy): [number, number][] {
  const [olds, news] = [before.rules, after.rules];
  const fits = (i: number, j: number) => {
    const [old, fresh] = [olds[i], news[j]];
    if (old === undefined || fresh === undefined || matchText(old) !== matchText(fresh)) return false;
    return isAsStrict(strengthOf(fresh, after), strengthOf(old, before));
  };
  const lengths = Array.from({ length: olds.length + 1 }, () => new Array<number>(news.length + 1).fill(0));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = olds.length - 1; i >= 0; i -= 1) {
    for (let j = news.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row !== undefined)
        row[j] = fits(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < olds.length && j < news.length; ) {
    if (fits(i, j)) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** The same text: the same calls. An allowance with conditions leaves out calls that nobody can judge, other rules do not. */
function matchText({ tools, where = {}, action }: Rule): string {
  const hasWhere = Object.keys(where).length > 0;
  return canonicalJson({ tools, where: { ...where }, isNarrow: hasWhere && action === "allow" });
}

function strengthOf({ action, approvers, holdResult = false }: Rule, { quorum }: Policy): Strength {
  return { action, approvers: Math.max(1, approvers ?? quorum), isHeld: holdResult };
}

function allowsAll({ action, isHeld }: Strength): boolean {
  return action === "allow" && !isHeld;
}

function isAsStrict(one: Strength, other: Strength): boolean {
  if (one.action === "deny" || allowsAll(other)) return true;
  if (order.indexOf(one.action) < order.indexOf(other.action)) return false;
  return one.approvers >= other.approvers && (one.isHeld || !other.isHeld);
}
