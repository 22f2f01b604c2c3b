// Signatures of envelopes on the command line: the key to sign with, the key book to verify with, and words for what
// was found.
import { resolve } from "node:path";
import type { ChainFinding, KeyBook, SignatureVerdict } from "@mcpx/client/signing";
import type { AccessKey, JsonObject } from "@mcpx/protocol";
import { dataDirOf } from "../files/data-dir.ts";
import { defaultKeyPath, openKeyFile } from "../files/key-file.ts";
import type { dataOption, OptionSpecs, OptionValues, Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { visible } from "../framework/visible.ts";
import { openPrivateKey } from "./signer.ts";

export const signOption = {
  sign: {
    type: "boolean",
    about: "sign every envelope, with --key or keys/default.jwk in the data directory",
  },
} as const satisfies OptionSpecs;

export const keyBookOptions = {
  keys: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "public keys to trust, by participant (default: keys/known.json in the data directory)",
  },
  pin: {
    type: "boolean",
    about: "trust the first key seen of each participant from now on, and write it to --keys",
  },
} as const satisfies OptionSpecs;

type Place = Pick<Surroundings, "env" | "cwd">;
type SignContext = Place &
  Pick<Surroundings, "askSecret"> & {
    options: OptionValues<typeof dataOption & typeof signOption> & { key: string | undefined };
  };
type BookContext = Place & { options: OptionValues<typeof dataOption & typeof keyBookOptions> };

/** The key of `--sign`; nothing where it was not given. */
export async function signingKey(context: SignContext): Promise<{ sign?: AccessKey }> {
  const { options, cwd } = context;
  if (!options.sign) return {};
  const path =
    options.key === undefined ? defaultKeyPath(dataDirOf(context, options)) : resolve(cwd, options.key);
  const file = openKeyFile(path);
  if (file.jwk.crv !== "Ed25519") {
    throw new Failure(`the key in ${path} is not an Ed25519 key`, "make one with mcpx key new --out FILE");
  }
  const key = await openPrivateKey(context, file);
  const { keyFromJwk } = await import("@mcpx/client/signing");
  return { sign: await keyFromJwk(key.export({ format: "jwk" }) as JsonObject) };
}

/** A book that was named must be there; the default one need not. */
export async function openKeyBook(context: BookContext): Promise<KeyBook> {
  const { options, cwd } = context;
  const { createKeyBook } = await import("@mcpx/client/signing");
  const { keyBookFile } = await import("@mcpx/client/node");
  const path =
    options.keys === undefined
      ? `${dataDirOf(context, options)}/keys/known.json`
      : resolve(cwd, options.keys);
  try {
    return await keyBookFile(path, { pinsFirstUse: options.pin });
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: unknown } };
    if (options.keys === undefined && cause?.code === "ENOENT") return createKeyBook();
    throw new Failure(message, `write {"alice": JWK}, with the JWK that mcpx key show prints for alice`);
  }
}

export function verdictText({ seq, id, from, state, detail }: SignatureVerdict): string {
  const place = seq === undefined ? `id ${visible(id)}` : `seq ${seq}`;
  return `${place}  ${visible(from)}  ${state}: ${visible(detail)}`;
}

export function findingText(finding: ChainFinding): string {
  const session = `session ${visible(finding.session.slice(0, 12))}`;
  const from = visible(finding.from);
  if (finding.type === "missing") {
    const { first, last } = finding;
    const numbers = first === last ? `number ${first}` : `numbers ${first} to ${last}`;
    return `${from}  missing: ${numbers} of ${session} did not arrive`;
  }
  const meaning = {
    out_of_order: "stands in another order than it was signed in",
    repeated: "was published more than once",
    forked: "does not follow the envelope that its sender published before it",
  }[finding.type];
  return `${from}  ${finding.type}: number ${finding.n} of ${session} ${meaning}`;
}
