// Signs decisions with the key of a key file, however it is kept: the passphrase is asked for when something is to be
// signed, ssh-agent signs by itself, a plain key is read.
import type { KeyObject } from "node:crypto";
import { statementKey, thumbprint } from "@mcpx/host";
import {
  type GrantTerms,
  type JointStatement,
  type RemoteStatementKey,
  type Statement,
  type StatementKey,
  signGrant,
  signStatement,
} from "@mcpx/protocol";
import {
  checkOwnersAlone,
  type KeyFile,
  openKeyFile,
  privateKeyFrom,
  privateKeyOf,
} from "../files/key-file.ts";
import { unsealKey } from "../files/sealed-key.ts";
import type { Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";
import { securityKeyAlgorithm, signInAgent } from "./ssh-agent.ts";

export interface Signer {
  readonly file: KeyFile;
  /** The key's thumbprint. */
  readonly kid: string;
  sign(statement: Statement | JointStatement): Promise<string>;
  grant(terms: GrantTerms): Promise<string>;
}

type SignContext = Pick<Surroundings, "env" | "askSecret" | "program">;

const guessesMax = 3;

export function openSigner(context: SignContext, path: string): Signer {
  const file = openKeyFile(path);
  const kid = thumbprint(file.jwk);
  const open = async (): Promise<StatementKey | RemoteStatementKey> => {
    if (file.kept !== "ssh-agent" && file.kept !== "security-key") {
      return statementKey(await openPrivateKey(context, file), kid);
    }
    const sign = (bytes: Uint8Array) => signInAgent(context.env, file, Buffer.from(bytes));
    return { alg: file.kept === "ssh-agent" ? "EdDSA" : securityKeyAlgorithm, kid, sign };
  };
  return {
    file,
    kid,
    sign: async (statement) => signStatement(statement, await open()),
    grant: async (terms) => signGrant(terms, await open()),
  };
}

/** Throws where it is not in a file: `what` needs one that is. */
export async function openPrivateKey(
  context: Pick<SignContext, "askSecret">,
  file: KeyFile,
): Promise<KeyObject> {
  if (file.kept === "unsealed") return privateKeyOf(file);
  if (file.kept === "sealed") {
    checkOwnersAlone(file.path);
    for (let guess = 1; guess <= guessesMax; guess += 1) {
      const again = guess === 1 ? "" : "Wrong passphrase. ";
      const passphrase = await context.askSecret(`${again}Passphrase of ${file.path}`);
      const seed = await unsealKey(file.sealed, passphrase);
      if (seed !== undefined) return privateKeyFrom(file.jwk, seed);
    }
    throw new Failure(`none of ${guessesMax} passphrases opens ${file.path}`, "nothing was signed");
  }
  const whys = {
    public: "has only the public part of a key",
    "ssh-agent": "names a key in ssh-agent",
    "security-key": "names a security key",
  };
  throw new Failure(`${file.path} ${whys[file.kept]}`, "sign where the private one is");
}

/** Throws where a program alone could sign with it, and its owner has not said that one may. */
export function checkNeedsPerson({ file }: Signer, { program }: Pick<SignContext, "program">): void {
  if (file.kept === "sealed" || (file.kept === "unsealed" && file.isMeant)) return;
  // What nobody has touched is no proof.
  if (file.kept === "security-key") return;
  if (file.kept === "ssh-agent") {
    throw new Failure(
      "ssh-agent does not say whether it asks you before it signs, so nothing is signed unasked with its keys",
      "answer at a terminal, without --yes",
    );
  }
  const seal = `${program} key seal ${shellWord(file.path)}`;
  throw new Failure(
    `the key in ${file.path} is a plain file that any program of yours could use, so nothing is signed unasked with it`,
    `answer at a terminal, without --yes, or seal the key: ${seal}`,
  );
}
