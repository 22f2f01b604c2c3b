// Approvers as files only their owner may write: DIRECTORY/NAME.json, which people may look at, copy and delete.
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { writeWhole } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import {
  type Approver,
  type ApproverStore,
  approverBytesMax,
  approversMax,
  type Enrolled,
  type Enrolment,
  isApproverName,
  readApprover,
  readEnrolled,
  tooLarge,
} from "./approver-store.ts";

const suffix = ".json";

/** The directory is made for the first of them. */
export function createFileApproverStore(directory: string): ApproverStore {
  const pathOf = (name: string) => join(directory, `${name}${suffix}`);
  let counting: Promise<void> = Promise.resolve();
  let last: { stamp: string; enrolled: Enrolled } | undefined;
  const known = () => {
    const files = filesIn(directory);
    const stamp = stampOf(files);
    if (last?.stamp !== stamp) last = { stamp, enrolled: readAll(files) };
    return last.enrolled;
  };
  return {
    list: async () => known(),
    known,
    async add(approver) {
      const read = readApprover(approver);
      const { name } = read;
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      // It may have been there before, with the rights of somebody less careful.
      chmodSync(directory, 0o700);
      const isTaken = filesIn(directory).some((file) => file.name.toLowerCase() === name.toLowerCase());
      if (isTaken || !create(pathOf(name), textOf(read))) {
        throw new McpxError("id_conflict", "there is an approver of this name");
      }
    },
    async replace(approver) {
      const read = readApprover(approver);
      const before = known().approvers.find((one) => one.approver.name === read.name)?.approver;
      if (!("jwk" in read && before && "jwk" in before && isDeepStrictEqual(before.jwk, read.jwk)))
        return false;
      writeWhole(pathOf(read.name), textOf(read));
      return true;
    },
    remove: async (name) => isApproverName(name) && (await unlinkKnown(pathOf(name))),
    keepCounter(name, counter) {
      // One write after the other, also after a write that failed.
      const next = counting.then(() => writeCounter(pathOf(name), name, counter));
      counting = next.catch(() => {});
      return next;
    },
  };
}

interface ApproverFile {
  name: string;
  path: string;
  stats: Stats;
}

/** Links are none of them. */
function filesIn(directory: string): ApproverFile[] {
  return namesIn(directory)
    .flatMap((name) => {
      const path = join(directory, `${name}${suffix}`);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() ? [{ name, path, stats }] : [];
    })
    .slice(0, approversMax);
}

function namesIn(directory: string): string[] {
  try {
    const files = readdirSync(directory).filter((file) => file.endsWith(suffix));
    return files
      .map((file) => basename(file, suffix))
      .filter(isApproverName)
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Another text where anything in them may be another. */
function stampOf(files: readonly ApproverFile[]): string {
  return files
    .map(({ name, stats: { mtimeMs, ino, size, mode } }) => `${name} ${mtimeMs} ${ino} ${size} ${mode}`)
    .join("\n");
}

function readAll(files: readonly ApproverFile[]): Enrolled {
  const approvers: Enrolment[] = [];
  const unreadable: { name: string; place: string; why: string }[] = [];
  for (const { name, path, stats } of files) {
    try {
      if (stats.size > approverBytesMax) throw tooLarge();
      if ((stats.mode & 0o022) !== 0) throw new Error("other users may write to the file; chmod 600");
      const approver = readEnrolled(name, readFileSync(path, "utf8"));
      approvers.push({ approver, since: stats.birthtimeMs, place: path });
    } catch (error) {
      unreadable.push({ name, place: path, why: (error as Error).message });
    }
  }
  return { approvers, unreadable };
}

/** In its place, so that who was deleted meanwhile stays so. */
async function writeCounter(path: string, name: string, counter: number): Promise<void> {
  const file = await openKnown(path);
  if (file === undefined) return;
  try {
    const approver = readEnrolled(name, await file.readFile("utf8"));
    if (!("passkey" in approver) || counter <= approver.passkey.counter) return;
    const text = textOf({ ...approver, passkey: { ...approver.passkey, counter } });
    await file.write(text, 0);
    await file.truncate(Buffer.byteLength(text));
    await file.sync();
  } finally {
    await file.close();
  }
}

function textOf(approver: Approver): string {
  return `${JSON.stringify(approver)}\n`;
}

/** Never over another; false where there is one. */
function create(path: string, text: string): boolean {
  try {
    writeWhole(path, text, { place: linkSync });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function unlinkKnown(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function openKnown(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
