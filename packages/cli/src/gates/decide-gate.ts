// Approving and rejecting a call at its gate: looked at here, signed here with the operator's own key, decided there.
import { resolve } from "node:path";
import {
  type Decision,
  type GateTerms,
  gateReasonCharsMax,
  type JsonObject,
  jointStatementOf,
  namesAsker,
  statementOf,
} from "@mcpx/protocol";
import { checkSeen } from "../access/seen-chain.ts";
import { checkNeedsPerson, openSigner, type Signer as StatementSigner } from "../access/signer.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { defaultKeyPath } from "../files/key-file.ts";
import type { Context, gatewayOptions } from "../framework/command.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { ask } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";
import { resultLines } from "./call-text.ts";
import { type GateAccess, type GateReport, gateAccess, gateJson } from "./gate-access.ts";
import { gateCard, isUndecided, stateText } from "./gate-card.ts";

export const gateOptions = {
  key: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "your key for gates (default: keys/default.jwk in the data)",
  },
} as const;

type GateContext = Context<typeof gatewayOptions & typeof gateOptions>;

interface ApproveOptions {
  /** `--yes`: decide without a question. */
  isAgreed: boolean;
  /** What looks like a secret is shown too. */
  isOpen: boolean;
  /** The proof names the gates below as well. [AX-11.3-8] */
  isBelowToo?: boolean;
}

/** Shows it, asks unless told not to, and resolves to the exit code. */
export async function approveGate(
  context: GateContext,
  id: string,
  { isAgreed, isOpen, isBelowToo = false }: ApproveOptions,
  access: GateAccess = gateAccess(context),
): Promise<number> {
  const { options, output } = context;
  const gate = await access.find(id);
  const { sign, signAll, kid, of } = await signer(context, access);
  if (isAgreed) checkNeedsPerson(of, context);
  checkPending(gate, "approved");
  checkNamesAsker(gate);
  checkNotYetBy(gate, kid);
  const below = isBelowToo ? gatesBelowOf(gate) : [];
  if (!isAgreed) {
    if (isOpen) await access.noteSecrets?.(gate.id);
    const card = options.json ? [] : gateCard(gate, output, { nowMs: Date.now(), isOpen });
    for (const line of card) output.line(line);
    const answer = options.json
      ? undefined
      : await ask(context, `${questionFor(gate, below)} y or n (Enter: n)`);
    if (answer === undefined) {
      throw new Failure(
        "nothing was approved: there is no terminal to ask for confirmation",
        "run it in a terminal",
      );
    }
    if (!/^y(es)?$/i.test(answer)) {
      output.line("nothing was approved; the call still waits");
      return 1;
    }
  }
  const proof = below.length === 0 ? await sign(gate, "approve") : await signAll([gate.terms, ...below]);
  const after = await access.decide(gate.id, proof);
  if (options.json) output.json(gateJson(after));
  else for (const line of outcomeLines(after)) output.line(context.hint(line));
  return hasGoneWrong(after) ? 1 : 0;
}

export async function rejectGate(
  context: GateContext,
  id: string,
  reason: string | undefined,
  access: GateAccess = gateAccess(context),
): Promise<number> {
  const { options, output } = context;
  if (reason !== undefined && reason.length > gateReasonCharsMax) {
    throw misuse(`the reason is longer than ${gateReasonCharsMax} characters`, "write a shorter reason");
  }
  const gate = await access.find(id);
  const { sign } = await signer(context, access);
  checkPending(gate, "rejected");
  const after = await access.decide(gate.id, await sign(gate, "reject", reason));
  if (options.json) output.json(gateJson(after));
  else output.line(`${visible(after.tool)}: ${stateText(after)}`);
  return 0;
}

interface Signer {
  sign(gate: GateReport, decision: Decision, reason?: string): Promise<string>;
  /** One approval that names all of these gates. */
  signAll(gates: readonly GateTerms[]): Promise<string>;
  /** The key's thumbprint. */
  kid: string;
  of: StatementSigner;
}

/** With a key that counts there: what would be refused is not tried. */
async function signer(context: GateContext, access: GateAccess): Promise<Signer> {
  const path = keyPathOf(context);
  const signing = signWith(context, path);
  const { kid } = signing;
  const chain = await access.chain?.();
  if (chain !== undefined) checkSeen(path, context.options.url ?? dataDirOf(context, context.options), chain);
  const { approvers } = await access.list("pending");
  if (approvers !== undefined && !approvers.some((one) => one.thumbprint === kid)) {
    const fix = `enrol it at the gateway: ${context.program} key enroll NAME --key ${path}`;
    throw new Failure(`the key in ${path} is not an enrolled approver on this gateway`, fix);
  }
  return signing;
}

export function keyPathOf(context: GateContext): string {
  const { options, cwd } = context;
  return options.key === undefined ? defaultKeyPath(dataDirOf(context, options)) : resolve(cwd, options.key);
}

export function signWith(context: Parameters<typeof openSigner>[0], path: string): Signer {
  const of = openSigner(context, path);
  return {
    of,
    kid: of.kid,
    sign: ({ terms }, decision, reason) => of.sign(statementOf(terms, decision, reason)),
    signAll: (gates) => of.sign(jointStatementOf(gates)),
  };
}

function questionFor({ status, principal }: GateReport, below: readonly GateTerms[]): string {
  if (status !== "held") {
    return below.length === 0
      ? "Approve exactly this, once?"
      : `Approve exactly this, once, at this gate and ${below.length} below?`;
  }
  return `Release exactly this result to ${visible(principal)}?`;
}

function gatesBelowOf({ below = [], status }: GateReport): readonly GateTerms[] {
  if (status === "pending" && below.length > 0) return below;
  const fix = "leave out --below; where the call stops below, it needs an approval there";
  throw new Failure("no gate below is known for this call", fix);
}

function checkPending(gate: GateReport, what: string): void {
  if (isUndecided(gate)) return;
  throw new Failure(`it can no longer be ${what}: ${stateText(gate)}`, "see mcpx pending");
}

function checkNamesAsker({ terms }: GateReport): void {
  if (namesAsker(terms)) return;
  const fix = "reject it, or let it expire; the asker can ask again";
  throw new Failure("asker not signed: an older build stored this call, and it is never approved", fix);
}

/** Each key counts once; nothing is decided by that. */
function checkNotYetBy({ approvals, review, approvers }: GateReport, kid: string): void {
  const [given, done] = review === undefined ? [approvals, "approved"] : [review.approvals, "released"];
  if (!given.some(({ thumbprint }) => thumbprint === kid)) return;
  const fix = `${given.length} of ${approvers} have, and somebody else must`;
  throw new Failure(`you have ${done} it already`, fix);
}

function outcomeLines(gate: GateReport): string[] {
  if (gate.status === "held") {
    const next = `look at it, and release it or not: mcpx approve ${gate.id}, mcpx reject ${gate.id}`;
    return [`${visible(gate.tool)}: ${stateText(gate)}`, next];
  }
  const { result, error } = gate.outcome ?? {};
  const said = result !== undefined ? resultLines(result) : error !== undefined ? [errorText(error)] : [];
  return [`${visible(gate.tool)}: ${stateText(gate)}`, ...said];
}

function errorText({ message }: JsonObject): string {
  return visible(String(message));
}

function hasGoneWrong({ status, outcome }: GateReport): boolean {
  return (
    status === "failed" ||
    status === "refused" ||
    status === "indeterminate" ||
    outcome?.result?.isError === true
  );
}
