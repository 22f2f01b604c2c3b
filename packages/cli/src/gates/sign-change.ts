// A change that makes gates weaker, signed at the terminal with an approver's key and appended to the chain, whether a
// gateway runs there or not. What cannot be signed here waits. [B-KEY-2]
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type AuthorityChange,
  authorityServer,
  type KeptChain,
  sentencesOf,
  signaturesNeeded,
  signedArguments,
  signersOf,
} from "@mcpx/aggregator";
import { digestOf, type GateTerms, statementOf } from "@mcpx/protocol";
import type { ChainStore } from "../access/authority.ts";
import { checkSeen, type SeenChain } from "../access/seen-chain.ts";
import { checkNeedsPerson, openSigner, type Signer } from "../access/signer.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { defaultKeyPath } from "../files/key-file.ts";
import type { dataOption, OptionSpecs, OptionValues, Surroundings } from "../framework/command.ts";
import { ask } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";

export const signChangeOptions = {
  by: {
    type: "string",
    values: "file",
    value: "FILE",
    about:
      "an approver's key that signs it, where there is an approver (default: keys/default.jwk in the data)",
  },
  yes: { type: "boolean", about: "sign without asking" },
} as const satisfies OptionSpecs;

type SignContext = Surroundings & {
  options: OptionValues<typeof dataOption & typeof signChangeOptions> & { json: boolean };
};

/** `waits`: nobody here can sign it, or wants to. */
export type Settled = "done" | "signed" | "waits";

const signMs = 300_000;

export async function settleOrSign(
  context: SignContext,
  { chain, aggregatorId }: ChainStore,
  changes: readonly AuthorityChange[],
): Promise<Settled> {
  const held = await chain.settle(() => changes);
  if (held.length === 0) return "done";
  const { state, head } = chain.now();
  const signer = signerHere(context);
  const isApprover = signersOf(state).some(({ thumbprint }) => thumbprint === signer?.kid);
  if (signer === undefined || !isApprover || signaturesNeeded(state) > 1) return "waits";
  const remember = () =>
    checkSeen(signer.file.path, dataDirOf(context, context.options), seenOf(chain, aggregatorId));
  remember();
  const what = sentencesOf(state, held);
  if (!(await isWanted(context, signer, what))) return "waits";
  const digest = await digestOf(signedArguments(held, { head, what }));
  const terms = await termsFor(aggregatorId, digest);
  await chain.sign({ changes: held, terms, proofs: [await signer.sign(statementOf(terms, "approve"))] });
  remember();
  return "signed";
}

function seenOf(chain: KeptChain, aggregatorId: string): SeenChain {
  const { head, entries } = chain.now();
  return { aggregatorId, head, hashAt: (n) => entries[n]?.hash };
}

function signerHere(context: SignContext): Signer | undefined {
  const { options, cwd } = context;
  const path =
    options.by === undefined ? defaultKeyPath(dataDirOf(context, options)) : resolve(cwd, options.by);
  // Without a key here, somebody else signs.
  if (options.by === undefined && !existsSync(path)) return undefined;
  return openSigner(context, path);
}

async function isWanted(context: SignContext, signer: Signer, what: readonly string[]): Promise<boolean> {
  const { options, output } = context;
  if (options.yes) {
    checkNeedsPerson(signer, context);
    return true;
  }
  if (options.json) return false;
  if (output.isTerminal) for (const sentence of what) output.line(visible(sentence));
  const answer = await ask(context, "Sign exactly this? y or n (Enter: n)");
  return answer !== undefined && /^y(es)?$/i.test(answer);
}

async function termsFor(aggregatorId: string, digest: string): Promise<GateTerms> {
  return {
    version: 2,
    asker: "mcpx",
    server: await authorityServer("change"),
    confirmation_id: randomUUID(),
    aggregator_id: aggregatorId,
    route: ["mcpx", "change"],
    tool: "mcpx.change",
    arguments_digest: digest,
    nonce: randomBytes(32).toString("base64url"),
    expires_at: Math.floor((Date.now() + signMs) / 1_000),
  };
}
