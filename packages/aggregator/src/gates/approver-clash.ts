// Whether somebody who is to approve could be taken for another: by a name that looks like theirs, by their key, or by
// the id of their passkey, which a person who registers one chooses freely. Pure.

import { confusableSkeleton } from "./confusable-name.ts";
import type { AnchorKey } from "./proofs/anchors.ts";

/** What is known of the new one so far. */
export interface NewApprover {
  readonly name: string;
  readonly thumbprint?: string;
  readonly passkey?: { readonly credentialId: string };
}

/** Two that share one of these are not two. */
export function approverMarks({ name, thumbprint, passkey }: NewApprover): string[] {
  return [
    `name ${confusableSkeleton(name)}`,
    ...(thumbprint === undefined ? [] : [`key ${thumbprint}`]),
    ...(passkey === undefined ? [] : [`credential ${passkey.credentialId}`]),
  ];
}

/** What is wrong, in words; `undefined` where they are nobody else. */
export function approverClash(fresh: NewApprover, others: readonly AnchorKey[]): string | undefined {
  const marks = new Set(approverMarks(fresh));
  const other = others.find((one) => approverMarks(one).some((mark) => marks.has(mark)));
  if (other === undefined) return undefined;
  const isAlike = confusableSkeleton(other.name) === confusableSkeleton(fresh.name);
  return isAlike
    ? `${fresh.name} is or looks like ${other.name}`
    : `this key already belongs to ${other.name}`;
}
