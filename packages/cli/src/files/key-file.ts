// Key files: an Ed25519 key sealed by a passphrase, one that lives in ssh-agent, or a plain JWK that any program of its
// owner can use. Only their owner may read them; an existing file is never made anew.
import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type PublicJwk, readPublicJwk } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";
import { readWhole, replaceFile } from "./replace-file.ts";
import { type SealedKey, sealFault, sealKey } from "./sealed-key.ts";

/** Who can sign with it: nobody without the passphrase, the agent, every program of its owner, nobody here. */
export type KeyKeeping = "sealed" | "ssh-agent" | "security-key" | "unsealed" | "public";

export type KeyFile = { readonly path: string; readonly jwk: PublicJwk } & (
  | { readonly kept: "sealed"; readonly sealed: SealedKey }
  | { readonly kept: "ssh-agent" | "public" }
  /** A FIDO2 key, which ssh-agent reaches: `application` is what it was made for. */
  | { readonly kept: "security-key"; readonly application: string }
  /** `isMeant`: its owner has said, with a flag, that programs may sign with it. */
  | { readonly kept: "unsealed"; readonly privateJwk: JsonObject; readonly isMeant: boolean }
);

const fileBytesMax = 16_384;
/** Beside the members of the key; other programs that read a JWK leave it alone. */
const meantMember = "mcpx_unsealed";

export function defaultKeyPath(dataDir: string): string {
  return join(keysDir(dataDir), "default.jwk");
}

function keysDir(dataDir: string): string {
  return join(dataDir, "keys");
}

export async function createSealedKey(path: string, passphrase: string): Promise<PublicJwk> {
  const { jwk, seed } = newKey();
  writeNew(path, await sealKey(jwk, seed, passphrase));
  return jwk;
}

export function createUnsealedKey(path: string): PublicJwk {
  const { jwk, seed } = newKey();
  writeNew(path, { ...jwk, d: seed.toString("base64url"), [meantMember]: true });
  return jwk;
}

/** Names a key that ssh-agent has. `application`: of one that is a FIDO2 key. */
export function createAgentKey(path: string, jwk: PublicJwk, application?: string): void {
  writeNew(path, agentKeyText(jwk, application));
}

/** Nothing in it is secret. */
export function agentKeyText(jwk: PublicJwk, application: string | undefined): object {
  const kept =
    application === undefined ? { kept: "ssh-agent", jwk } : { kept: "security-key", jwk, application };
  return { format: "mcpx-key", version: 1, ...kept };
}

/** Replaces the plain file; copies that were made of it stay. */
export async function sealKeyFile(file: KeyFile & { kept: "unsealed" }, passphrase: string): Promise<void> {
  const { path, jwk, privateJwk } = file;
  if (jwk.crv !== "Ed25519") {
    throw new Failure(
      `${path} holds a ${jwk.crv} key, and only Ed25519 keys are sealed`,
      "make one with mcpx key new",
    );
  }
  const sealed = await sealKey(jwk, Buffer.from(String(privateJwk.d), "base64url"), passphrase);
  replaceFile(path, `${JSON.stringify(sealed)}\n`, 0o600, readWhole(path));
}

/** Records in the key file that its owner wants it unsealed. */
export function meanUnsealed({ path, privateJwk }: KeyFile & { kept: "unsealed" }): void {
  replaceFile(path, `${JSON.stringify({ ...privateJwk, [meantMember]: true })}\n`, 0o600, readWhole(path));
}

/** The public key of a key file, the private part left behind. */
export function readKeyFile(path: string): PublicJwk {
  return openKeyFile(path).jwk;
}

export function openKeyFile(path: string): KeyFile {
  const value = readJson(path);
  if (!isObject(value)) throw notAKey(path);
  if (value.format !== undefined) return openOwnFormat(path, value);
  const { d, [meantMember]: meant, ...rest } = value;
  const jwk = publicPart(rest, path);
  if (d === undefined) return { path, jwk, kept: "public" };
  return { path, jwk, kept: "unsealed", privateJwk: value, isMeant: meant === true };
}

/** To sign with. A key that others can read is nobody's signature. */
export function privateKeyOf({ path, privateJwk }: KeyFile & { kept: "unsealed" }): KeyObject {
  checkOwnersAlone(path);
  const { [meantMember]: _, ...jwk } = privateJwk;
  try {
    return createPrivateKey({ key: jwk as JsonWebKey, format: "jwk" });
  } catch {
    throw notAKey(path);
  }
}

/** The private key made of the seed that a passphrase has opened. */
export function privateKeyFrom(jwk: PublicJwk, seed: Buffer): KeyObject {
  return createPrivateKey({ key: { ...jwk, d: seed.toString("base64url") }, format: "jwk" });
}

export function checkOwnersAlone(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  throw new Failure(
    `others can read the key in ${path}`,
    `chmod 600 ${shellWord(path)}, or better make a new one`,
  );
}

/** All in the directory of keys that can be read. */
export function listKeyFiles(dataDir: string): KeyFile[] {
  const dir = keysDir(dataDir);
  return namesIn(dir)
    .filter((name) => name.endsWith(".jwk") && lstatSync(join(dir, name)).isFile())
    .flatMap((name) => {
      try {
        return [openKeyFile(join(dir, name))];
      } catch (error) {
        // A file that is no key of mcpx is not judged here.
        if (error instanceof Failure) return [];
        throw error;
      }
    });
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort().slice(0, 1_000);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function openOwnFormat(path: string, value: JsonObject): KeyFile {
  const jwk = publicPart(value.jwk, path);
  if (value.format === "mcpx-key" && value.kept === "ssh-agent" && value.version === 1) {
    return { path, jwk, kept: "ssh-agent" };
  }
  if (value.format === "mcpx-key" && value.kept === "security-key" && value.version === 1) {
    const { application } = value;
    if (jwk.crv !== "Ed25519" || typeof application !== "string") throw notAKey(path);
    return { path, jwk, kept: "security-key", application };
  }
  if (value.format !== "mcpx-key" || value.kept !== "sealed") throw notAKey(path);
  const fault = sealFault(value);
  if (fault !== undefined)
    throw new Failure(`${path}: ${fault}`, "make a new key with mcpx key new --out FILE");
  return { path, jwk, kept: "sealed", sealed: value as unknown as SealedKey };
}

function newKey(): { jwk: PublicJwk; seed: Buffer } {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { kty, crv, x, d } = privateKey.export({ format: "jwk" });
  return { jwk: { kty, crv, x } as PublicJwk, seed: Buffer.from(String(d), "base64url") };
}

/** Throws where there is something already: before anybody is asked for a passphrase without need. */
export function checkNoKey(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw alreadyThere(path);
}

function alreadyThere(path: string): Failure {
  return new Failure(`there is a key in ${path} already`, "choose another with --out FILE");
}

function writeNew(path: string, value: object): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw alreadyThere(path);
    throw new Failure(`the key cannot be written to ${path} (${code})`, "choose another with --out FILE");
  }
}

function readJson(path: string): unknown {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > fileBytesMax) throw notAKey(path);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`the key file ${path} cannot be read (${code})`, "make one with mcpx key new");
  }
  try {
    return JSON.parse(text);
  } catch {
    // The text of a syntax error would quote the file, and with it the key.
    throw notAKey(path);
  }
}

function publicPart(value: unknown, path: string): PublicJwk {
  const key = readPublicJwk(value);
  if (key === undefined) throw notAKey(path);
  return key;
}

function notAKey(path: string): Failure {
  return new Failure(`${path} holds no Ed25519 or P-256 key as JWK`, "make one with mcpx key new");
}
