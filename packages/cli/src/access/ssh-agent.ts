// Keys that live in ssh-agent (draft-ietf-sshm-ssh-agent), or on a FIDO2 key that it reaches (PROTOCOL.u2f of OpenSSH):
// which Ed25519 keys it has, and a signature by one of them. The private key never leaves it. Everything it answers is
// bounded and checked.
import { createConnection } from "node:net";
import type { PublicJwk } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";

export interface AgentKey {
  jwk: PublicJwk;
  /** What `ssh-add -l` shows beside it. */
  comment: string;
  /** Of a FIDO2 key: what it was made for. */
  application?: string;
}

const messages = { failure: 5, listKeys: 11, keys: 12, sign: 13, signature: 14 };
const algorithm = "ssh-ed25519";
/** As keys, signatures and proofs of FIDO2 keys are called. */
export const securityKeyAlgorithm = "sk-ssh-ed25519@openssh.com";
const answerBytesMax = 262_144;
/** A byte of flags, and four that count. */
const deviceBytes = 5;
const keysMax = 1_000;
const listMs = 5_000;
/** A person is asked meanwhile. */
const signMs = 120_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Its Ed25519 keys. */
export async function listAgentKeys(env: Environment): Promise<AgentKey[]> {
  const answer = await askAgent(env, Buffer.from([messages.listKeys]), listMs);
  const reader = readerOf(answer);
  if (reader.byte() !== messages.keys) throw new Failure("ssh-agent does not tell which keys it has");
  const count = Math.min(reader.number(), keysMax);
  return Array.from({ length: count }, () => ({ blob: reader.text(), comment: reader.text() })).flatMap(
    ({ blob, comment }) => {
      const key = publicPartOf(blob);
      return key === undefined ? [] : [{ ...key, comment: comment.toString("utf8").slice(0, 256) }];
    },
  );
}

/**
 * The 64 bytes of the signature, and of a FIDO2 key its flags and its count after them; throws where the agent, or who it
 * asks, does not want to.
 */
export async function signInAgent(
  env: Environment,
  { jwk, application }: { jwk: PublicJwk; application?: string },
  data: Buffer,
): Promise<Buffer> {
  const isDevice = application !== undefined;
  const kind = isDevice ? securityKeyAlgorithm : algorithm;
  const parts = [Buffer.from(kind), Buffer.from(jwk.x, "base64url")];
  if (isDevice) parts.push(Buffer.from(application));
  const blob = Buffer.concat(parts.map(lengthAnd));
  const flags = Buffer.alloc(4);
  const request = Buffer.concat([Buffer.from([messages.sign]), lengthAnd(blob), lengthAnd(data), flags]);
  const reader = readerOf(await askAgent(env, request, signMs));
  if (reader.byte() !== messages.signature) {
    throw new Failure(
      `ssh-agent did not sign it: the key is not there, or ${isDevice ? "nobody has touched it" : "the person refused"}`,
      `see ssh-add -l; add the key with ssh-add ${isDevice ? "" : "-c "}FILE`,
    );
  }
  const signature = readerOf(reader.text());
  const [name, bytes] = [signature.text().toString(), signature.text()];
  if (name !== kind || bytes.length !== 64) throw new Failure(`ssh-agent signed with ${name}, not ${kind}`);
  return isDevice ? Buffer.concat([bytes, signature.bytes(deviceBytes)]) : bytes;
}

function publicPartOf(blob: Buffer): Omit<AgentKey, "comment"> | undefined {
  const reader = readerOf(blob);
  const kind = reader.text().toString();
  if (kind !== algorithm && kind !== securityKeyAlgorithm) return undefined;
  const key = reader.text();
  if (key.length !== 32) return undefined;
  const jwk: PublicJwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
  return kind === algorithm ? { jwk } : { jwk, application: reader.text().toString("utf8").slice(0, 256) };
}

function askAgent(env: Environment, request: Buffer, timeoutMs: number): Promise<Buffer> {
  const { SSH_AUTH_SOCK: path } = env;
  const none = "start ssh-agent, and add your key with ssh-add -c FILE";
  if (path === undefined || path === "")
    throw new Failure("there is no ssh-agent: SSH_AUTH_SOCK is not set", none);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    const fail = (why: string) => {
      socket.destroy();
      reject(new Failure(`ssh-agent at ${path} ${why}`, none));
    };
    let answer = Buffer.alloc(0);
    socket.setTimeout(timeoutMs, () => fail("does not answer"));
    socket.on("error", ({ code }: NodeJS.ErrnoException) => fail(`cannot be reached (${code})`));
    socket.on("close", () => fail("ended the conversation"));
    socket.on("data", (bytes) => {
      answer = Buffer.concat([answer, bytes]);
      const length = answer.length < 4 ? 0 : answer.readUInt32BE();
      if (length > answerBytesMax) fail("answers with too much");
      else if (length > 0 && answer.length >= 4 + length) {
        resolve(answer.subarray(4, 4 + length));
        socket.destroy();
      }
    });
    socket.write(lengthAnd(request));
  });
}

function lengthAnd(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function readerOf(bytes: Buffer) {
  let at = 0;
  const take = (length: number) => {
    if (length > bytes.length - at) throw new Failure("ssh-agent answers with less than it says");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = () => take(4).readUInt32BE();
  return { byte: () => take(1).readUInt8(), bytes: take, number, text: () => take(number()) };
}
