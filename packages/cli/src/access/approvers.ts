// Who was enrolled to approve: DATA/approvers/NAME.json, public keys only. Read when a proof is looked at and the
// directory has changed, so that who comes or goes does so at once.
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type AnchorKey,
  type AnchorSource,
  type AuthorityChange,
  type AuthorityState,
  anchorKeys,
  anchorOf,
  approverClash,
  approverMarks,
  approverValue,
  type CounterKeeper,
  changesBetween,
  isApproverName,
  isSame,
  type KeptChain,
  type KeyKeeping,
  type NewApprover,
  pressKeys,
  readApprover,
} from "@mcpx/aggregator";
import type { Logger, PublicJwk } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { readWhole, replaceFile } from "../files/replace-file.ts";
import { Failure } from "../framework/failure.ts";

export interface Approvers {
  keys: readonly AnchorKey[];
  /** The same, as the chain of approvers has them. */
  state: AuthorityState;
  /** What is wrong with files that do not count. */
  faults: readonly string[];
}

const bytesMax = 16_384;
const filesMax = 1_000;
const suffix = ".json";

export function approversDir(dataDir: string): string {
  return join(dataDir, "approvers");
}

/** `known`: keys of the configuration, which nobody can be enrolled over. */
export function readApprovers(
  dataDir: string,
  known: readonly AnchorKey[] = [],
  keepCounter?: CounterKeeper,
): Approvers {
  const read: Enrolled[] = [];
  const keys: AnchorKey[] = [];
  const state = new Map<string, unknown>();
  const faults: string[] = [];
  const noting = (file: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      faults.push(`${file}: ${error instanceof Failure ? error.message : "cannot be read"}`);
    }
  };
  for (const file of filesIn(approversDir(dataDir))) {
    noting(file, () => read.push(...readFile(file, keepCounter)));
  }
  const holders = Map.groupBy(
    read.flatMap((one) => approverMarks(one.key).map((mark) => ({ mark, one }))),
    ({ mark }) => mark,
  );
  for (const one of read) {
    noting(one.file, () => {
      checkNew(one.key, known);
      const rivals = approverMarks(one.key).flatMap((mark) => holders.get(mark) ?? []);
      // Who came later, or nobody knows who did: neither by name nor by chance is anybody put out.
      const earlier = rivals.filter((rival) => rival.one !== one && rival.one.bornAt <= one.bornAt);
      checkNew(
        one.key,
        earlier.map((rival) => rival.one.key),
      );
      keys.push(one.key);
      state.set(approverKey(one.key.name), one.value);
    });
  }
  return { keys, state, faults };
}

export function approverKey(name: string): string {
  return `approver/${name}`;
}

interface Enrolled {
  file: string;
  key: AnchorKey;
  value: JsonObject;
  /** When the file was made, whatever was written into it since. */
  bornAt: number;
}

/** Throws where the name, the key or the credential is somebody's already. */
export function checkNew(fresh: NewApprover, others: readonly AnchorKey[]): void {
  const clash = approverClash(fresh, others);
  if (clash !== undefined) throw new Failure(clash);
}

export interface Writing {
  kept?: KeyKeeping | undefined;
  /** Of a FIDO2 key. */
  application?: string | undefined;
  /** The same key under the same name: written anew. Else an approver is never written over. */
  isSame?: boolean;
}

export function writeApprover(
  dataDir: string,
  name: string,
  jwk: PublicJwk,
  { kept, application, isSame = false }: Writing = {},
): string {
  const dir = approversDir(dataDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const path = join(dir, `${name}${suffix}`);
  const before = isSame ? readWhole(path) : undefined;
  const approver = { name, jwk, ...(kept && { kept }), ...(application && { application }) };
  replaceFile(path, `${JSON.stringify(approver)}\n`, 0o600, before);
  return path;
}

export interface ApproverWatch {
  dataDir: string;
  /** The anchors of the configuration. */
  known: readonly AnchorKey[];
  log: Logger;
  keepCounter?: CounterKeeper;
  /** Those who are in it count, and nobody else. Without one, every file does. [B-KEY-2] */
  chain?: KeptChain | undefined;
  /** What an approver has to sign before it counts. */
  wait?: (changes: readonly AuthorityChange[]) => void;
}

/** All keys that count. What is wrong is logged when it appears. */
export function watchApprovers(watch: ApproverWatch): AnchorSource {
  const { dataDir, known, log, keepCounter, chain, wait } = watch;
  let state: string | undefined;
  let keys = known;
  const files = () => stateOf(approversDir(dataDir));
  const withChainHead = (seen: string) => `${seen}\n${chain?.now().head?.hash}`;
  const stateNow = () => withChainHead(files());
  const countingIn = (read: Approvers): readonly AnchorKey[] => {
    const people = read.keys.filter(({ name }) => isInChain(chain, read.state, approverKey(name)));
    const all = [...known, ...people];
    return chain === undefined ? all : [...all, ...pressKeys(chain.now().state, all)];
  };
  const look = async () => {
    if (stateNow() === state) return keys;
    const readNow = () => ({ seen: files(), read: readApprovers(dataDir, known, keepCounter) });
    let now = readNow();
    if (chain !== undefined) {
      // Where a command writes to the chain at this moment, the files are read again after it.
      const held = await settleApprovers(chain, () => {
        now = readNow();
        return now.read.state;
      });
      wait?.(held);
    }
    for (const fault of now.read.faults) log.warn({ fault }, "ignoring invalid approver file");
    keys = countingIn(now.read);
    state = withChainHead(now.seen);
    return keys;
  };
  let looking: Promise<unknown> = Promise.resolve();
  return {
    known() {
      // An approver who is removed is no longer valid, also where nobody has looked since; who comes has to be written
      // down first.
      if (stateNow() !== state) keys = countingIn(readApprovers(dataDir, known, keepCounter));
      return keys;
    },
    now() {
      const looked = looking.then(look);
      looking = looked.catch(() => {});
      return looked;
    },
  };
}

/** Writes what nobody has to sign, and gives back the rest. */
export async function settleApprovers(
  chain: KeptChain,
  wanted: () => AuthorityState,
): Promise<AuthorityChange[]> {
  return await chain.settle((state) => {
    const signed = new Map([...state].filter(([key]) => key.startsWith("approver/")));
    return changesBetween(signed, wanted());
  });
}

function isInChain(chain: KeptChain | undefined, read: AuthorityState, key: string): boolean {
  return chain === undefined || isSame(chain.now().state.get(key), read.get(key));
}

function readFile(path: string, keepCounter: CounterKeeper | undefined): Enrolled[] {
  const { size, mode, birthtimeMs: bornAt } = lstatSync(path);
  if (size > bytesMax) throw new Failure("the file is too large");
  if ((mode & 0o022) !== 0) throw new Failure("other users may write to the file", "chmod 600");
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isObject(value) || value.name !== basename(path, suffix)) {
    throw new Failure("the name in the file is not the file's name");
  }
  if (isObject(value.jwk) && "d" in value.jwk) {
    throw new Failure("a private key must not be here", "enrol it again");
  }
  const approver = readApprover(value);
  const keys = anchorKeys([anchorOf(approver)], keepCounter);
  return keys.map((key) => ({ file: path, key, value: approverValue(approver), bornAt }));
}

function filesIn(dir: string): string[] {
  return namesIn(dir)
    .filter((name) => name.endsWith(suffix) && isApproverName(basename(name, suffix)))
    .filter((name) => lstatSync(join(dir, name), { throwIfNoEntry: false })?.isFile())
    .slice(0, filesMax)
    .map((name) => join(dir, name));
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Another text where anything in it may be another. */
function stateOf(dir: string): string {
  return filesIn(dir)
    .map((path) => {
      const { mtimeMs = 0, ino = 0, size = 0, mode = 0 } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
      return `${path} ${mtimeMs} ${ino} ${size} ${mode}`;
    })
    .join("\n");
}
